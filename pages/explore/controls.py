"""Widgets bound to the link: each one's key is the name of an `Inputs` field, so state, link and widget are
one.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import streamlit as st

from models.config import POSITION_SCHEMES
from pages.explore import state
from pages.explore.state import Inputs, View
from pages.shared import mask_choice, model_choice, widget_internals
from pages.shared.link import read_link

MOST_PICTURES = 1_000_000
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
    asked, lost = _without_lost_run(inputs if params else session.get("explored", {}))
    usual = {field.name: field.default for field in fields(Inputs)}
    usual["text"] = opening_text(asked.get("model", model_choice.TRANSLATOR))
    session.update(usual | asked)
    session.view_link = view
    session.link_problems = problems + more + lost
    session.pop("opened", None)
    session.pop("link_checked", None)


def _without_lost_run(asked: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What was asked for without the run that is not here (any more), and a sentence if there was one."""
    model = asked.get("model", model_choice.TRANSLATOR)
    if not model_choice.is_trained(model) or model_choice.offer_of(model):
        return asked, []
    kept = {name: value for name, value in asked.items() if name not in ("model", "text")}
    return kept, [f"{model!r} is no run with a checkpoint on this machine; the default is shown."]


def opening_text(model: str) -> str:
    """What a model is shown with before anybody has typed."""
    offer = model_choice.offer_of(model) if model_choice.is_trained(model) else None
    return state.SHOWCASE if offer is None else offer.text


def inputs() -> Inputs:
    """What the widgets say now; remembered for the next visit to the page."""
    st.session_state.explored = {field.name: st.session_state[field.name] for field in fields(Inputs)}
    return Inputs(**st.session_state.explored)


def keep() -> None:
    """Streamlit forgets a widget's value when it is not drawn; writing it again makes it last.

    Widgets that the browser has told of are left alone.
    """
    drawn = state.read_by(st.session_state.model) - ({"text"} if _reads_pictures() else set())
    _write_again({field.name for field in fields(Inputs)} - drawn)
    widget_internals.write_again(drawn)


def _write_again(names: set[str]) -> None:
    for name in names:
        st.session_state[name] = st.session_state[name]


def switch_model() -> None:
    """Shows what the other model opens with; its widgets, drawn anew, get the values they had.

    The translator and the untrained model read the same text; every other one has its own.
    """
    session = st.session_state
    texts, before = session.setdefault("texts", {}), session.explored
    texts[_reader(before["model"])] = before["text"]
    session.text = texts.get(_reader(session.model), opening_text(session.model))
    st.session_state.view_link = {}
    st.session_state.pop("opened", None)
    _write_again(state.read_by(st.session_state.model))


def _reader(model: str) -> str:
    return model if model_choice.is_trained(model) else model_choice.TRANSLATOR


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
    model = st.session_state.model
    st.selectbox(
        "Model",
        model_choice.offered(model),
        key="model",
        format_func=model_choice.title_of,
        on_change=switch_model,
        help="All but the untrained one, which reads any words, were trained for this app, or by you.",
    )
    if model == model_choice.UNTRAINED:
        _untrained()
    elif model == model_choice.TRANSLATOR:
        _translator()
    else:
        _trained(model)
    st.button("Reset", on_click=reset, help="Back to the first sentence and its head", width="stretch")


def text_input() -> None:
    """Where a person says what the model reads."""
    model = st.session_state.model
    offer = model_choice.offer_of(model) if model_choice.is_trained(model) else None
    if offer is not None and offer.reads_pictures:
        typed = st.session_state.text
        st.session_state.picture = int(typed) if typed.isdecimal() and 0 < int(typed) < MOST_PICTURES else 1
        st.number_input(
            "Picture: choose one of those never seen in training, by its number.",
            1, MOST_PICTURES, key="picture", on_change=_choose_picture,
        )  # fmt: skip
        return
    if offer is not None:
        label = "Text: type your own. See which tokens each token looks at."
        if offer.reads_prose:
            st.text_area(label, key="text", height=68)
        else:
            st.text_input(label, key="text")
        return
    st.text_input(
        "Sentence: type your own. A real transformer reads it; see which words each word looks at.",
        key="text",
        placeholder="Type a sentence",
    )


def _choose_picture() -> None:
    st.session_state.text = str(st.session_state.picture)


def _reads_pictures() -> bool:
    model = st.session_state.model
    offer = model_choice.offer_of(model) if model_choice.is_trained(model) else None
    return offer is not None and offer.reads_pictures


def _trained(model: str) -> None:
    offer = model_choice.offer_of(model)
    if offer is None:
        return
    config = offer.config
    st.caption(offer.summary)
    st.caption(
        f"{config.get('kind')}: {config.get('n_layers')} layers, {config.get('n_heads')} heads, "
        f"d_model {config.get('d_model')}, positions {config.get('positions')}"
    )


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
    left.selectbox("Positions", POSITION_SCHEMES, key="positions")
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


def swap_of(inputs: Inputs) -> tuple[str, str]:
    """(label, text) of the button that shows another text: for a translator, one word is changed that decides
    whom "it" means; for others, the next example. ("", "") where there is none.
    """
    offer = model_choice.offer_of(inputs.model) if model_choice.is_trained(inputs.model) else None
    if offer is None:
        return _other_word(inputs.text)
    if offer.reads_pictures:
        return "next picture", str(int(inputs.text) + 1) if inputs.text.isdecimal() else "1"
    texts = [example["text"] for example in offer.examples]
    after = texts[(texts.index(inputs.text) + 1) % len(texts)] if inputs.text in texts else offer.text
    return ("next example", after) if after != inputs.text else ("", "")


def _other_word(text: str) -> tuple[str, str]:
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
