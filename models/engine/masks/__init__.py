"""Who may attend to whom: boolean masks, True = may attend, broadcastable to [batch, head, query, key]."""

from models.engine.masks.core import Mask, causal, check, combine, padding
from models.engine.masks.kinds.edges import edges
from models.engine.masks.kinds.fixed import fixed
from models.engine.masks.kinds.memory import memory
from models.engine.masks.kinds.packed import packed
from models.engine.masks.kinds.painted import painted
from models.engine.masks.kinds.prefix import prefix
from models.engine.masks.kinds.strided import strided
from models.engine.masks.kinds.window import sliding_window
from models.engine.masks.named import (
    Allowed,
    argument_of,
    both,
    check_fits,
    code_of,
    in_parts,
    kind_of,
    layers_needed,
    named,
    of_tensor,
    reach,
    usual,
)

__all__ = [
    "Allowed",
    "Mask",
    "argument_of",
    "both",
    "causal",
    "check",
    "check_fits",
    "code_of",
    "combine",
    "edges",
    "fixed",
    "in_parts",
    "kind_of",
    "layers_needed",
    "memory",
    "named",
    "of_tensor",
    "packed",
    "padding",
    "painted",
    "prefix",
    "reach",
    "sliding_window",
    "strided",
    "usual",
]
