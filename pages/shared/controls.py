"""Widgets bound to the link: each one's key is the name of an `Inputs` field, so state, link and widget are
one.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import streamlit as st

from pages.shared import mask_choice, state
from pages.shared.link import read_link
from pages.shared.state import Inputs, View

NORM_NAMES = {"pre": "pre-norm", "post": "post-norm"}


def load_link() -> None:
    """On arrival: the link's values, else those of the last visit, put where the widgets find them."""
    session = st.session_state
    arrived, session.page = session.get("page") != "explore", "explore"
    if not arrived:
        return
    params = dict(st.query_params)
    inputs, problems = read_link(Inputs, params)
    view, more = read_link(View, params)
    usual = {field.name: field.default for field in fields(Inputs)}
    session.update(usual | (inputs if params else session.get("explored", {})))
    session.view_link = view
    session.link_problems = problems + more
    session.pop("opened", None)
    session.pop("link_checked", None)


def inputs() -> Inputs:
    """What the widgets say now; remembered for the next visit to the page."""
    st.session_state.explored = {field.name: st.session_state[field.name] for field in fields(Inputs)}
    return Inputs(**st.session_state.explored)


def keep() -> None:
    """Streamlit forgets a widget's value when it is not drawn; writing it again makes it last.

    Widgets that are drawn are left alone: what the server writes would undo what a person has moved since.
    """
    _write_again({field.name for field in fields(Inputs)} - state.read_by(st.session_state.model))


def _write_again(names: set[str]) -> None:
    for name in names:
        st.session_state[name] = st.session_state[name]


def switch_model() -> None:
    """Shows what the other model opens with; its widgets, drawn anew, get the values they had."""
    st.session_state.view_link = {}
    st.session_state.pop("opened", None)
    _write_again(state.read_by(st.session_state.model))


def reset() -> None:
    """Everything as on a first visit."""
    for field in fields(Inputs):
        st.session_state[field.name] = field.default
    st.session_state.view_link = {}
    st.session_state.pop("opened", None)
    st.session_state.reset_count = st.session_state.get("reset_count", 0) + 1


def clear_argument() -> None:
    """Another mask starts from its usual argument."""
    st.session_state.mask_arg = ""


def say(text: str, direction: str = "en-fr") -> None:
    """Puts a sentence in and lets the model decode its translation."""
    st.session_state.update(text=text, target="", direction=direction)


def replace_word(unknown: dict[str, Any], word: str) -> None:
    """Puts a known word where the unknown one stands; `unknown` says in which text and where."""
    text = st.session_state[unknown["where"]]
    st.session_state[unknown["where"]] = text[: unknown["start"]] + word + text[unknown["end"] :]


def model_controls() -> None:
    """The column beside the stage."""
    st.segmented_control(
        "Model",
        ("translator", "untrained"),
        key="model",
        required=True,
        on_change=switch_model,
        help="The translator was trained for this app; the untrained model reads any words.",
    )
    (_untrained if st.session_state.model == "untrained" else _translator)()
    st.button("Reset", on_click=reset, help="Back to the first sentence and its head", width="stretch")


def _translator() -> None:
    st.segmented_control(
        "Direction",
        ("en-fr", "fr-en"),
        key="direction",
        required=True,
        format_func=_arrow,
        on_change=_turn_round,
    )
    st.slider("Beam width", 1, 8, key="beam", help="1 is greedy: always the most probable next word")
    st.text_input(
        "Target",
        key="target",
        placeholder="decoded by the model",
        help="Type a translation to force it; empty: decoded",
    )
    st.segmented_control(
        "Padding of the source",
        state.PADDINGS,
        key="padding",
        required=True,
        format_func=lambda count: f"{count} `<pad>`" if count else "none",
        help="Tokens that fill up a batch: hidden from encoder and decoder, they change no other number",
    )


def _turn_round() -> None:
    """The other direction starts from what was written in this one."""
    written = st.session_state.get("last_target")
    if written:
        st.session_state.update(text=written, target="")


def _arrow(direction: str) -> str:
    return {"en-fr": "EN → FR", "fr-en": "FR → EN"}[direction]


def _untrained() -> None:
    left, right = st.columns(2)
    left.slider("Layers", 1, 8, key="n_layers")
    right.slider("Heads", 1, 16, key="n_heads")
    left.select_slider("d_model", state.D_MODELS, key="d_model", help="Width of the residual stream")
    right.select_slider(
        "d_head",
        state.D_HEADS,
        key="d_head",
        format_func=lambda d: str(d or "auto"),
        help="auto = d_model / heads",
    )
    left.selectbox("Positions", state.POSITIONS, key="positions")
    right.selectbox(
        "Scale", state.SCALES, key="attention_scale", help="on: dot products are multiplied by 1 / √d_head"
    )
    left.selectbox(
        "Norm",
        state.NORMS,
        key="norm",
        format_func=lambda norm: NORM_NAMES[norm],
        help="Normalise before or after each sublayer",
    )
    right.slider("Seed", 0, 999, key="seed", help="Another seed, other random weights")
    left.selectbox(
        "Mask",
        list(mask_choice.NAMES),
        key="mask",
        format_func=mask_choice.NAMES.__getitem__,
        on_change=clear_argument,
        help="Who may attend to whom; padding adds three <pad> tokens and hides them",
    )
    with right:
        mask_choice.argument("mask_arg", st.session_state.mask, own_padding=True)


def swap_of(text: str) -> tuple[str, str]:
    """(label, sentence) of the button that changes the word which decides whom "it" means."""
    words = text.split()
    for old, new in (("tired", "wide"), ("wide", "tired")):
        if old in words:
            return f"{old} → {new}", " ".join(new if word == old else word for word in words)
    return "the animal sentence", state.SHOWCASE


def problem_of(current: Inputs) -> str | None:
    """A sentence about a text too long to read, else None."""
    for name in ("text", "target"):
        length = len(getattr(current, name))
        if length > state.MAX_CHARACTERS:
            over = length - state.MAX_CHARACTERS
            limit = f"at most {state.MAX_CHARACTERS:,} are read"
            return f"The {name} has {length:,} characters; {limit}; remove {over:,}."
    return None
