"""What a link holds: the state of Explore, read from and written to URL query parameters.

Everything that arrives from outside is checked here, once. A damaged value falls back to its default
and is reported in a sentence; it never reaches a widget, the engine or the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

SHOWCASE = "the animal did not cross the street because it was too tired"
MAX_CHARACTERS = 20_000
MAX_UNTRAINED_TOKENS = 1_024
MAX_INDEX = 4_096
VIEWS = ("grid", "head", "lines", "numbers", "output")
STACKS = ("encoder.self", "decoder.self", "decoder.cross")
QUANTITIES = ("pattern", "scores", "dots")
RANGES = ("full", "row", "log")
SORTS = ("layer", "entropy", "distance", "previous", "first", "same")
PINS = ("none", "query", "key")
POSITIONS = ("none", "sinusoidal", "learned")
NORMS = ("pre", "post")
MASKS = ("none", "causal", "padding", "causal+padding")
D_HEADS = (0, 4, 8, 16, 32, 64, 128)
D_MODELS = (8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512)
SCALES = ("on", "off", "0.01", "0.1", "0.5", "1", "2", "10")


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(raw: str) -> int:
        value = int(raw)
        if not low <= value <= high:
            raise ValueError
        return value

    read.__doc__ = f"a whole number from {low:,} to {high:,}"
    return read


def _one_of(options: tuple[Any, ...]) -> Callable[[str], Any]:
    def read(raw: str) -> Any:
        return next(option for option in options if str(option) == raw)

    read.__doc__ = f"one of {', '.join(map(str, options))}"
    return read


def _text(raw: str) -> str:
    if len(raw) > MAX_CHARACTERS:
        raise ValueError
    return raw


_text.__doc__ = f"at most {MAX_CHARACTERS:,} characters"


def _head_set(raw: str) -> tuple[int, ...]:
    heads = tuple(sorted({int(part) for part in raw.split(".")}))
    if not all(0 <= head < MAX_INDEX for head in heads):
        raise ValueError
    return heads


_head_set.__doc__ = "head numbers separated by dots, such as 0.2.3"


def _param(default: Any, read: Callable[[str], Any]) -> Any:
    return field(default=default, metadata={"read": read})


@dataclass(frozen=True)
class Inputs:
    """What the server computes from: the model, its sizes and the text."""

    model: str = _param("translator", _one_of(("translator", "untrained")))
    text: str = _param(SHOWCASE, _text)
    direction: str = _param("en-fr", _one_of(("en-fr", "fr-en")))
    target: str = _param("", _text)
    beam: int = _param(1, _whole(1, 8))
    n_layers: int = _param(2, _whole(1, 8))
    n_heads: int = _param(4, _whole(1, 16))
    d_model: int = _param(64, _one_of(D_MODELS))
    d_head: int = _param(0, _one_of(D_HEADS))
    positions: str = _param("sinusoidal", _one_of(POSITIONS))
    attention_scale: str = _param("on", _one_of(SCALES))
    norm: str = _param("pre", _one_of(NORMS))
    mask: str = _param("none", _one_of(MASKS))
    seed: int = _param(0, _whole(0, 999))


@dataclass(frozen=True)
class View:
    """What the browser shows of it; changed there without asking the server."""

    view: str = _param("lines", _one_of(VIEWS))
    stack: str = _param("encoder.self", _one_of(STACKS))
    layer: int = _param(0, _whole(0, MAX_INDEX))
    head: int = _param(0, _whole(0, MAX_INDEX))
    heads: tuple[int, ...] = _param((), _head_set)
    show: str = _param("pattern", _one_of(QUANTITIES))
    range: str = _param("full", _one_of(RANGES))
    sort: str = _param("layer", _one_of(SORTS))
    step: int | None = _param(None, _whole(0, MAX_INDEX))
    query: int | None = _param(None, _whole(0, MAX_INDEX))
    key: int | None = _param(None, _whole(0, MAX_INDEX))
    pinned: str = _param("none", _one_of(PINS))
    q0: int = _param(0, _whole(0, MAX_INDEX))
    k0: int = _param(0, _whole(0, MAX_INDEX))


def read_link(kind: type[Inputs] | type[View], params: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The values that a link's parameters give, by field name, and one sentence for each that was refused."""
    values: dict[str, Any] = {}
    problems = []
    for spec in fields(kind):
        if spec.name not in params:
            continue
        read = spec.metadata["read"]
        try:
            values[spec.name] = read(params[spec.name])
        except (ValueError, StopIteration):
            shown = params[spec.name][:40]
            problems.append(f"The link's {spec.name}={shown!r} is not {read.__doc__}; its default is shown.")
    return values, problems


def write_link(inputs: Inputs) -> dict[str, str]:
    """The query parameters that describe `inputs`: what differs from the defaults and matters to the model
    chosen.
    """
    mine = read_by(inputs.model)
    return {
        spec.name: str(getattr(inputs, spec.name))
        for spec in fields(inputs)
        if spec.name in mine and getattr(inputs, spec.name) != spec.default
    }


def read_by(model: str) -> set[str]:
    """The names of the inputs that matter to a model."""
    shared, trained = {"model", "text"}, {"direction", "target", "beam"}
    return {spec.name for spec in fields(Inputs)} - trained if model == "untrained" else shared | trained


def scale_of(attention_scale: str) -> bool | float:
    """`ModelConfig.attention_scale` for a choice on the page: on, off or a number."""
    named = {"on": True, "off": False}
    return named[attention_scale] if attention_scale in named else float(attention_scale)
