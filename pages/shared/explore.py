"""What Explore computes between its widgets and its stage."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import streamlit as st

from pages.shared import cache, controls, payload, state
from pages.shared.payload import Body, Opened
from pages.shared.state import Inputs, View

CAPTIONS = {
    "grid": "Every head of the stack: rows are queries, columns are keys, strong colour is much attention. Click one.",
    "output": "The last linear layer and the softmax: how probable each next token is.",
}
PRONOUNS = {"il", "elle", "ils", "elles", "it", "they"}


def opened_from(act: dict[str, Any]) -> Opened:
    """What the stage asked to open; anything that is not a known stack and whole numbers opens the first head."""
    values, problems = state.read_link(View, {name: str(act.get(name)) for name in asdict(Opened())})
    return Opened() if problems else Opened(**values)


def body_of(inputs: Inputs, opened: Opened) -> Body:
    """The trace of `inputs` as the stage gets it; ValueError with a sentence where there is none."""
    from pages.shared.subject import subject_of

    def make() -> tuple[Body, int]:
        body = payload.build(subject_of(inputs), opened)
        return body, body.size

    return cache.cached(cache.payloads, (inputs, opened), make)


def current_payload() -> tuple[bytes | None, str | None]:
    """(the stage's bytes, a sentence if the widgets ask for the impossible: then the last good inputs are shown)."""
    inputs, problem = controls.inputs(), None
    opened = st.session_state.get("opened") or _linked_opening(inputs)
    try:
        problem = controls.problems_of(inputs)
        if problem:
            raise ValueError(problem)
        body = body_of(inputs, opened)
        st.session_state.last_good = inputs
    except ValueError as error:
        problem = str(error)
        inputs = st.session_state.get("last_good", Inputs())
        body = body_of(inputs, opened)
    return payload.pack(body, own_header(inputs, body)), problem


def _linked_opening(inputs: Inputs) -> Opened:
    linked = {**story(inputs), **st.session_state.view_link}
    return Opened(**{name: linked[name] for name in asdict(Opened()) if name in linked})


def story(inputs: Inputs) -> dict[str, Any]:
    """The view a model opens with: the translator on the head that tells the story, the untrained one on all heads."""
    if inputs.model == "untrained":
        return {"view": "grid"}
    from models import list_models

    card = next(card for card in list_models() if card.name == "translator")
    return {"view": "lines", **card.showcase}


def own_header(inputs: Inputs, body: Body) -> dict[str, Any]:
    """The part of the header that belongs to this session: its view, its link, its buttons."""
    st.session_state.generation = st.session_state.get("generation", 0) + 1
    focus = body.focus | {"pinned": "query" if body.focus else "none"}
    defaults = {field.name: field.default for field in fields(View)} | story(inputs) | focus
    label, text = controls.swap_of(inputs.text)
    view = defaults | st.session_state.view_link
    if not view["heads"]:
        view["heads"] = [view["head"]]
    return {
        "generation": st.session_state.generation,
        "view": view,
        "viewDefaults": defaults,
        "viewToken": f"{inputs.model}.{st.session_state.get('reset_count', 0)}",
        "focus": focus,
        "focusToken": f"{inputs.direction} {inputs.text}",
        "link": state.write_link(inputs),
        "swap": {"label": label, "text": text},
        "caption": CAPTIONS,
    }


def examples() -> None:
    """One click to a sentence of each kind, and the words the translator knows."""
