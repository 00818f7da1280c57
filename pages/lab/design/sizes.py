"""The model that the calculator is asked about: a published one, or its sizes changed."""

from __future__ import annotations

from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.config import ModelConfig
from models.lessons.design.presets import PRESETS, Preset, preset
from pages.lab import session
from pages.lab.design.inputs import ACTIVATIONS, KINDS, LIMITS, NORMS, POSITIONS, Inputs

_SAME = (
    "kind", "n_layers", "n_heads", "d_model", "d_ff", "vocab_size", "max_len", "positions", "norm",
    "activation", "bias",
)  # fmt: skip
FIELDS = ("preset", *_SAME, "tied", "batch", "tokens")


class Asked(NamedTuple):
    """The config, and the published model that it is, if it is one unchanged."""

    config: ModelConfig
    name: str
    published: Preset | None


def inputs_of(name: str) -> dict[str, Any]:
    """The page's inputs for a published model."""
    config = preset(name).config
    same = {field: getattr(config, field) for field in _SAME}
    return {"preset": name, **same, "tied": config.tied_embeddings, "tokens": config.max_len}


def asked(inputs: Inputs) -> Asked:
    """Raises ValueError where the sizes make no model."""
    _check(inputs)
    config = ModelConfig(
        **{field: getattr(inputs, field) for field in _SAME}, tied_embeddings=inputs.tied
    )  # d_head is d_model / n_heads, as in every published model here
    published = preset(inputs.preset)
    if config == published.config:
        return Asked(config, published.label, published)
    return Asked(config, f"{published.label}, changed", None)


def _check(inputs: Inputs) -> None:
    """What ModelConfig would refuse with a remedy that this page has no control for."""
    h, d = inputs.n_heads, inputs.d_model
    if d % h:
        near = [size for size in (d // h * h, (d // h + 1) * h) if 0 < size <= LIMITS["d_model"]]
        remedy = " or ".join(map(str, near)) or f"n_heads={d}"
        raise ValueError(f"d_model={d} is not divisible by n_heads={h}; try d_model={remedy}")
    if inputs.positions == "rotary" and d // h % 2:
        raise ValueError(
            f"d_model / n_heads = {d // h} is odd, but rotary positions turn channels in pairs; "
            f"try d_model={d + h}, or other positions"
        )


def _take() -> None:
    name = st.session_state[session.key("design", "preset")]
    session.put("design", inputs_of(name))


def controls() -> None:
    """The picker, which sets all sizes, and the sizes."""
    key = "design"
    st.selectbox(
        "Published model", list(PRESETS), key=session.key(key, "preset"), on_change=_take,
        format_func=lambda name: PRESETS[name].label, help="Sets all sizes below; then change them",
    )  # fmt: skip
    left, right = st.columns(2, gap="small")
    _number(left, "n_layers")
    _number(right, "n_heads")
    _number(left, "d_model")
    _number(right, "d_ff")
    _number(st.container(), "vocab_size")  # long numbers
    left, right = st.columns(2, gap="small")
    _number(left, "max_len")
    _number(right, "batch", "sequences")
    st.selectbox("kind", KINDS, key=session.key(key, "kind"))
    st.selectbox("positions", POSITIONS, key=session.key(key, "positions"))
    left, right = st.columns(2, gap="small")
    left.selectbox("norm", NORMS, key=session.key(key, "norm"))
    right.selectbox("activation", ACTIVATIONS, key=session.key(key, "activation"))
    st.toggle("tied embeddings", key=session.key(key, "tied"))
    st.toggle("biases", key=session.key(key, "bias"))


def _number(place: DeltaGenerator, name: str, label: str = "") -> None:
    place.number_input(label or name, 1, LIMITS[name], key=session.key("design", name), step=1)
