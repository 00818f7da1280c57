"""A part of newer models: taken out of one that was trained with it, or put in where it has no weights."""

from dataclasses import fields, replace

from ...config import ModelConfig
from ...engine.transformer import Stack, Transformer
from ...fields import shortened
from ...zoo.model import Model
from ..knob import Knob, is_ours, only_ours, with_model, words_of
from ..side import Side

OWN = "as it is"
PARTS = ("head_gate", "value_residual", "exclusive", "differential", "depth_attention")
"""Fields of the config. Only `exclusive` has no weights."""
_PLAIN = {field.name: field.default for field in fields(ModelConfig) if field.name in PARTS}


def _changed(config: ModelConfig, value: str) -> ModelConfig:
    """The config with a value such as "exclusive=on", one of `_values`."""
    name, _, switch = value.partition("=")
    return replace(config, **{name: True if switch == "on" else _PLAIN[name]})


def _values(model: Model) -> tuple[str, ...]:
    """What can be taken out, and exclusive attention, which can be put in unless heads stand in pairs."""
    if not is_ours(model):
        return (OWN,)
    there = [name for name in PARTS if getattr(model.config, name) != _PLAIN[name]]
    fits = "exclusive" not in there and not model.config.differential
    return (OWN, *(f"{name}=off" for name in there), *(["exclusive=on"] if fits else []))


def _read(value: str) -> str:
    name, _, switch = value.partition("=")
    if name not in PARTS or switch not in ("on", "off"):
        raise ValueError(
            f"part={shortened(value)!r} is unknown; give one of {', '.join(PARTS)}, and =on or =off"
        )
    return value


def _turned(side: Side, value: str) -> Side:
    if value not in _values(side.model):
        raise ValueError(
            f"part={value!r} changes nothing in {side.model.name!r}, or has weights that it never learnt; "
            f"choose one of {', '.join(_values(side.model))}"
        )

    def change(net: Transformer) -> None:
        config = net.config = _changed(net.config, value)
        for stack in (module for module in net.modules() if isinstance(module, Stack)):
            stack.config = config
            for layer in stack.layers:
                layer.depth = layer.depth if config.depth_attention else None
                layer.self_attention.exclusive = config.exclusive
                for attention in filter(None, (layer.self_attention, layer.cross_attention)):
                    attention.gate = None if config.head_gate == "none" else attention.gate
                    attention.value_mix = attention.value_mix if config.value_residual else None
                    attention.difference = attention.difference if config.differential else None

    return with_model(side, side.model.remade(change))


KNOB = Knob(
    **words_of("part"),
    own=lambda model: OWN,
    values=_values,
    read=_read,
    why_not=lambda side: only_ours(side, "parts"),
    turned=_turned,
)
