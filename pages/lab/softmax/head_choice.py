"""The sentence that the translator reads, remembered, and the widgets that choose a head in it."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.engine.trace import Trace
from pages.lab import any_model
from pages.lab.any_model import ANOTHER
from pages.lab.controls import Columns, Own, When
from pages.lab.softmax.inputs import PRONOUN
from pages.shared import cache
from pages.shared.state import State


def trace_of(text: str) -> Trace:
    """Tokens and scores of a sentence and its translation; ValueError with a sentence where it has none."""

    def make() -> tuple[Trace, int]:
        trace = cache.translator().trace(text, reduce=_only_scores)
        return trace, 2_000 + sum(trace[address].nbytes for address in trace)

    return cache.cached(cache.results, ("scores", text), make)


def _only_scores(address: str, tensor: Any) -> Any:
    return tensor if address.endswith(".scores") else None


def _words(state: State) -> None:
    """The words to look from and to watch."""
    try:
        tokens = trace_of(state.kept["text"]).tokens
    except ValueError:
        return  # what is wrong with the sentence is said above the board
    left, right = st.columns(2)
    if state.kept["stack"] == "encoder.self":
        _word(state, left, "query", tokens["encoder"])
    _word(state, right, "step", [*tokens["decoder"][1:], "<eos>"])


def _word(state: State, place: DeltaGenerator, field: str, words: list[str]) -> None:
    # A link may name a position that this sentence does not have; the board says so, the widget shows it.
    options = range(PRONOUN, max(len(words), state.kept[field] + 1))
    names = {PRONOUN: "the pronoun"} | {at: f"{at}: {word}" for at, word in enumerate(words)}
    state.draw(field, place, options=options, format_func=lambda at: names.get(at, f"{at}: none"))


TRANSLATOR = (
    "text", "stack", Columns((("layer",), ("head",)), (2, 3)), "scope", Own(_words, ("query", "step"))
)  # fmt: skip
CONTROLS = ("reader", When("reader", ANOTHER, (*any_model.HEAD, "scope"), TRANSLATOR))
"""Sentence, head, and the words to look from and to watch; of another model the token to look from."""
