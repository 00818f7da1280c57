"""The format of numbers: the whole pass in it, or weights rounded to 8 bits."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ...zoo.hub.model_folder import check_memory_room
from ..knob import Knob, is_ours, one_of, with_model, words_of
from ..side import Side

FORMATS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
INT8 = "int8"
LARGEST = 127
"""The largest whole number of 8 bits with a sign; -128 is not used, so that both signs reach equally far."""


def rounded(rows: Float[Tensor, "row column"]) -> Float[Tensor, "row column"]:
    """Each row as whole numbers from -127 to 127 times one number, its largest absolute value / 127."""
    step = rows.abs().amax(dim=1, keepdim=True) / LARGEST
    return torch.where(step == 0, rows, (rows / step).round() * step)


def _why_not(side: Side) -> str:
    if not side.model.number_format:
        return f"{side.model.name!r} has no weights here whose format could change; open another model"
    return ""


def _turned(side: Side, value: str) -> Side:
    if not is_ours(side.model):
        own, new = (FORMATS.get(each, torch.float32).itemsize for each in (side.model.number_format, value))
        # rounded weights are held in the model's own format
        n_bytes = side.model.n_bytes if value == INT8 else side.model.n_bytes * new // own
        check_memory_room(f"a copy of {side.model.name!r} in {value}", n_bytes)
    return with_model(side, side.model.remade(_in_8_bits if value == INT8 else _cast(FORMATS[value])))


def _cast(dtype: torch.dtype) -> Callable[[nn.Module], None]:
    """Puts every weight in this format; buffers, which are computed and not learnt, stay as they are."""

    def change(net: nn.Module) -> None:
        copies: dict[int, nn.Parameter] = {}  # a weight that two modules share stays one
        for module in net.modules():
            for name, weight in module.named_parameters(recurse=False):
                if weight.is_floating_point():
                    cast = copies.setdefault(id(weight), _parameter(weight.detach().to(dtype)))
                    setattr(module, name, cast)

    return change


def _in_8_bits(net: nn.Module) -> None:
    """Rounds the matrices of linear maps, but for an output layer that shares the embedding's."""
    embedded = {id(each.weight) for each in net.modules() if isinstance(each, nn.Embedding)}
    for module in net.modules():
        weight = getattr(module, "weight", None)
        if not isinstance(weight, nn.Parameter) or weight.dim() != 2 or id(weight) in embedded:
            continue
        rows = weight.detach().float()
        # transformers' Conv1D keeps [in, out], where torch's Linear keeps [out, in]
        rounded_weight = rounded(rows) if isinstance(module, nn.Linear) else rounded(rows.T).T.contiguous()
        module.weight = _parameter(rounded_weight.to(weight.dtype))


def _parameter(value: Tensor) -> nn.Parameter:
    return nn.Parameter(value, requires_grad=False)


KNOB = Knob(
    **words_of("format"),
    own=lambda model: model.number_format or "its own",
    values=lambda model: (*FORMATS, INT8),
    read=one_of("format", *FORMATS, INT8),
    why_not=_why_not,
    turned=_turned,
)
