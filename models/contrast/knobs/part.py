"""A part of newer models: taken out of one that was trained with it, or put in where it has no weights."""

from dataclasses import fields, replace
from typing import Any

from ...config import ModelConfig
from ...engine.attention import MultiHeadAttention
from ...engine.transformer import Layer, Stack, Transformer
from ...zoo.model import Model
from ..knob import Knob, is_ours, only_ours, with_model, words_of
from ..side import Side

OWN = "as it is"
PARTS = ("head_gate", "value_residual", "exclusive", "differential", "depth_attention")
"""Fields of the config. Only `exclusive` has no weights."""
_PLAIN: dict[str, Any] = {field.name: field.default for field in fields(ModelConfig) if field.name in PARTS}


def _values(model: Model) -> tuple[str, ...]:
    """Lists what can be taken out; exclusive attention can be put in, unless heads stand in pairs."""
    if not is_ours(model):
        return (OWN,)
    there = [name for name in PARTS if getattr(model.config, name) != _PLAIN[name]]
    fits = "exclusive" not in there and not model.config.differential
    return (OWN, *(f"{name}=off" for name in there), *(["exclusive=on"] if fits else []))


def _turned(side: Side, value: str) -> Side:
    if value not in _values(side.model):
        raise ValueError(
            f"part={value!r:.60} changes nothing in {side.model.name!r}, or has weights that it never "
            f"learnt; choose one of {', '.join(_values(side.model))}"
        )

    def change(net: Transformer) -> None:
        name, _, switch = value.partition("=")
        set_to: dict[str, Any] = {name: switch == "on" or _PLAIN[name]}
        config = net.config = replace(net.config, **set_to)
        for module in net.modules():
            if isinstance(module, Stack):
                module.config = config
            elif isinstance(module, Layer):
                module.depth = module.depth if config.depth_attention else None
                module.self_attention.exclusive = config.exclusive
            elif isinstance(module, MultiHeadAttention):
                module.gate = None if config.head_gate == "none" else module.gate
                module.value_mix = module.value_mix if config.value_residual else None
                module.difference = module.difference if config.differential else None

    return with_model(side, side.model.remade(change))


KNOB = Knob(
    **words_of("part"),
    own=lambda model: OWN,
    values=_values,
    read=str,
    why_not=lambda side: only_ours(side, "parts"),
    turned=_turned,
)
