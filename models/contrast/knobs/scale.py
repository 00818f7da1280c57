"""The scale of dot products: 1 / sqrt(d_head), or none."""

import math
from dataclasses import replace

from torch import Tensor

from ...engine.address import Address
from ...engine.attention import MultiHeadAttention
from ...engine.transformer import Transformer
from ...zoo.model import Model
from ..knob import Knob, is_ours, one_of, stacks_of, unheard, with_editing, with_model, words_of
from ..side import Side


def _own(model: Model) -> str:
    if is_ours(model):
        scale = model.config.attention_scale
        return ("on" if scale else "off") if isinstance(scale, bool) else f"{scale:g}"
    return "on" if _is_on(model) else "its own"


def _is_on(model: Model) -> bool:
    """Whether all attentions of a model of transformers are scaled by 1 / sqrt(d_head), and say so."""
    return all(
        attention.whole and all(math.isclose(scale, attention.d_head**-0.5) for scale in attention.scales)
        for attention in map(model.attention, stacks_of(model))
    )


def _why_not(side: Side) -> str:
    if is_ours(side.model):
        return ""
    if why := unheard(side):
        return why
    if not _is_on(side.model):
        return f"the scores of {side.model.name!r} are not visibly scaled by 1/√d_head; open another model"
    return ""


def _turned(side: Side, value: str) -> Side:
    model = side.model
    if is_ours(model):

        def rescale(net: Transformer) -> None:
            net.config = replace(net.config, attention_scale=value == "on")
            for module in net.modules():
                if isinstance(module, MultiHeadAttention):
                    module.scale = net.config.scale

        return with_model(side, model.remade(rescale))
    roots = {stack: model.attention(stack).d_head ** 0.5 for stack in stacks_of(model)}

    def unscaled(address: str, q: Tensor) -> Tensor:
        if not address.endswith(".q"):
            return q
        return q * roots[Address.parse(address).family]

    return with_editing(side, unscaled)


KNOB = Knob(
    **words_of("scale"),
    own=_own,
    values=lambda model: (
        tuple(dict.fromkeys((_own(model), "on", "off"))) if is_ours(model) else ("on", "off")
    ),
    read=one_of("scale", "on", "off"),
    why_not=_why_not,
    turned=_turned,
)
