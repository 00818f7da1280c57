"""The sentence that the translator reads, remembered, and the widgets that choose a head in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.lab.session import key
from pages.lab.softmax.inputs import PRONOUN, SCOPES, STACKS
from pages.shared import cache

if TYPE_CHECKING:
    from models.engine.trace import Trace


def trace_of(text: str) -> Trace:
    """Tokens and scores of a sentence and its translation; ValueError with a sentence where it has none."""

    def make() -> tuple[Trace, int]:
        trace = cache.translator().trace(text, reduce=_only_scores)
        return trace, 2_000 + sum(trace[address].nbytes for address in trace)

    return cache.cached(cache.results, ("scores", text), make)


def _only_scores(address: str, tensor: Any) -> Any:
    return tensor if address.endswith(".scores") else None


def controls() -> None:
    """Sentence, head, and the words to look from and to watch."""
    st.text_input("Sentence", key=key("softmax", "text"))
    st.selectbox("Attention", list(STACKS), key=key("softmax", "stack"), format_func=STACKS.__getitem__)
    left, right = st.columns([2, 3])
    left.segmented_control("Layer", range(2), key=key("softmax", "layer"), required=True)
    right.segmented_control("Head", range(4), key=key("softmax", "head"), required=True)
    st.segmented_control(
        "Heated", list(SCOPES), key=key("softmax", "scope"), format_func=SCOPES.__getitem__, required=True
    )
    try:
        tokens = trace_of(st.session_state[key("softmax", "text")]).tokens
    except ValueError:
        return  # what is wrong with the sentence is said above the board
    left, right = st.columns(2)
    if st.session_state[key("softmax", "stack")] == "encoder.self":
        _word(left, "Looks from", "query", tokens["encoder"])
    _word(right, "Next word", "step", [*tokens["decoder"][1:], "<eos>"])


def _word(place: Any, label: str, field: str, words: list[str]) -> None:
    # A link may name a position that this sentence does not have; the board says so, the widget shows it.
    options = range(PRONOUN, max(len(words), st.session_state[key("softmax", field)] + 1))
    names = {PRONOUN: "the pronoun"} | {at: f"{at}: {word}" for at, word in enumerate(words)}
    place.selectbox(
        label, options, key=key("softmax", field), format_func=lambda at: names.get(at, f"{at}: none")
    )
