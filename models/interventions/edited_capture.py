"""Attention of any torch module, while edits change what it computes."""

from typing import Any

from torch import nn

from ..engine import capture as engine
from ..engine.trace import Trace
from .edit import Edit, read_edits
from .edited_pass import Applied, Editing, one_after_the_other


def capture(
    module: nn.Module, *inputs: Any, edits: Any = (), edit: Editing | None = None, **keywords: Any
) -> tuple[Any, Trace]:
    """`module(*inputs, **keywords)`, and a trace of every attention in it, as `models.engine.capture` has it:
    what nn.MultiheadAttention, nn.Transformer and F.scaled_dot_product_attention compute, at addresses such
    as `encoder.0.self.pattern`, or `blocks.3.attn.pattern` after the path of the part that computes it.

    edits: what is changed in the pass, as in `trace`: lines such as 'module "blocks.3.mlp": scale 0.5' for
    what any part gives, by its path, or "encoder.0.self heads 2: zero" for the attentions of torch's own
    layers; and pairs of such a place and a function. edit: as in `Trace`, called at each address, too, with
    what each part gives at such as 'module "blocks.3"'. It first runs unedited, which is checked as ever.
    Raises ValueError as `models.engine.capture` does, and for an edit that does not fit the module, or that
    takes values of a text, since a module reads none.
    """
    read = read_edits(edits)
    applied = Applied(read, [()] * len(read))
    both = one_after_the_other(applied if read else None, edit)

    def fitted(trace: Trace) -> Editing:
        paths = [path for path, _ in module.named_modules() if path]
        for each in read:
            _check(each, trace, paths, type(module).__name__)
        assert both is not None
        return both

    output, trace = engine.capture(module, *inputs, editing=fitted if both else None, **keywords)
    applied.check_done()
    return output, trace


def _check(edit: Edit, trace: Trace, paths: list[str], name: str) -> None:
    if edit.change.texts or edit.change.of_reference:
        raise ValueError(
            f"{edit}: a module reads no texts; capture it with other inputs, and give what you take of them "
            "by a function, as a pair such as ('module \"blocks.3\"', function)"
        )
    place = edit.place
    place.check_address(list(trace), name, paths)
    if place.kind in ("heads", "pattern"):
        n_heads, n_key_heads = (len(trace[f"{place.address.rsplit('.', 1)[0]}.{part}"]) for part in "qk")
        place.check_heads(n_heads, n_key_heads)
        place.check_positions(trace[place.address].shape[1])
