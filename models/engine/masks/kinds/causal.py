"""The causal mask: nobody sees later tokens."""

from models.engine.masks.core import causal, register
from models.mask_names import MaskName

ABOUT = MaskName(order=1, title="causal")

register(
    "causal", lambda n, argument: causal(n, n), part=lambda query, key, n, argument: key <= query, code=causal
)
