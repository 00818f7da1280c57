"""What a link to Explore holds: what the server computes from, and what the browser shows of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from models.config import POSITION_SCHEMES
from pages.shared import mask_choice, model_choice
from pages.shared.link import Rule, characters, checked, one_of, param, whole

SHOWCASE = "the animal did not cross the street because it was too tired"
MAX_CHARACTERS = 20_000
MAX_INDEX = 4_096
VIEWS = ("grid", "head", "lines", "numbers", "output")
STACKS = ("encoder.self", "decoder.self", "decoder.cross")
QUANTITIES = ("pattern", "scores", "dots")
RANGES = ("full", "row", "log")
SORTS = ("layer", "entropy", "distance", "previous", "first", "same")
PINS = ("none", "query", "key")
NORMS = ("pre", "post")
PADDINGS = (0, 3)
D_HEADS = (0, 4, 8, 16, 32, 64, 128)
D_MODELS = (8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512)
SCALES = ("on", "off", "0.01", "0.1", "0.5", "1", "2", "10")


def _are_heads(value: Any) -> bool:
    return isinstance(value, tuple) and all(INDEX.fits(head) for head in value)


def _read_heads(raw: str) -> tuple[int, ...]:
    return checked(tuple(sorted({int(part) for part in raw.split(".")})), _are_heads)


INDEX = whole(0, MAX_INDEX)
HEADS = Rule("head numbers separated by dots, such as 0.2.3", _read_heads, _are_heads)


@dataclass(frozen=True)
class Inputs:
    """What the server computes from: the model, its sizes and the text."""

    model: str = param("translator", model_choice.NAME)
    text: str = param(SHOWCASE, characters(MAX_CHARACTERS))
    direction: str = param("en-fr", one_of(("en-fr", "fr-en")))
    target: str = param("", characters(MAX_CHARACTERS))
    beam: int = param(1, whole(1, 8))
    padding: int = param(0, one_of(PADDINGS))
    n_layers: int = param(2, whole(1, 8))
    n_heads: int = param(4, whole(1, 16))
    d_model: int = param(64, one_of(D_MODELS))
    d_head: int = param(0, one_of(D_HEADS))
    positions: str = param("sinusoidal", one_of(POSITION_SCHEMES))
    attention_scale: str = param("on", one_of(SCALES))
    norm: str = param("pre", one_of(NORMS))
    mask: str = param("none", one_of(tuple(mask_choice.NAMES)))
    mask_arg: str = param("", characters(mask_choice.MAX_ARGUMENT))
    seed: int = param(0, whole(0, 999))


@dataclass(frozen=True)
class View:
    """What the browser shows of it; changed there without asking the server."""

    view: str = param("lines", one_of(VIEWS))
    stack: str = param("encoder.self", one_of(STACKS))
    layer: int = param(0, INDEX)
    head: int = param(0, INDEX)
    heads: tuple[int, ...] = param((), HEADS)
    show: str = param("pattern", one_of(QUANTITIES))
    range: str = param("full", one_of(RANGES))
    sort: str = param("layer", one_of(SORTS))
    step: int | None = param(None, INDEX)
    query: int | None = param(None, INDEX)
    key: int | None = param(None, INDEX)
    pinned: str = param("none", one_of(PINS))
    q0: int = param(0, INDEX)
    k0: int = param(0, INDEX)


def write_link(inputs: Inputs) -> dict[str, str]:
    """The query parameters that describe `inputs`: what differs from the defaults and matters to the model
    chosen; its text always where that opens with a text of its own.
    """
    mine = read_by(inputs.model)
    always = {"text"} if model_choice.is_trained(inputs.model) else set()
    return {
        spec.name: str(getattr(inputs, spec.name))
        for spec in fields(inputs)
        if spec.name in mine and (spec.name in always or getattr(inputs, spec.name) != spec.default)
    }


def read_by(model: str) -> set[str]:
    """The names of the inputs that matter to a model."""
    shared, translating = {"model", "text"}, {"direction", "target", "beam", "padding"}
    if model == model_choice.UNTRAINED:
        return {spec.name for spec in fields(Inputs)} - translating
    return shared if model_choice.is_trained(model) else shared | translating


def scale_of(attention_scale: str) -> bool | float:
    """`ModelConfig.attention_scale` for a choice on the page: on, off or a number."""
    named = {"on": True, "off": False}
    return named[attention_scale] if attention_scale in named else float(attention_scale)
