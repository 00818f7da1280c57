"""What a page shows: what was asked for or, failing that, the last possible; and how often that changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

Made = TypeVar("Made")


@dataclass(frozen=True)
class Possible(Generic[Made]):
    """What was made of `inputs`. problem: why these are not the inputs asked for; None if they are."""

    inputs: Any
    made: Made
    problem: str | None


def first_possible(
    page: str, asked: Any, usual: tuple[Any, ...], make: Callable[[Any], Made]
) -> Possible[Made]:
    """Makes what was asked for; where that raises ValueError, what was shown last, or else a usual one.

    The ValueError of what was asked for is raised again where nothing is possible.
    """
    problem: ValueError | None = None
    for inputs in (asked, last(page, asked), *usual):
        try:
            made = make(inputs)
        except ValueError as error:
            problem = problem or error
            continue
        st.session_state[_key(page)] = inputs
        return Possible(inputs, made, str(problem) if problem else None)
    assert problem is not None
    raise problem


def last(page: str, otherwise: Any) -> Any:
    """The inputs of what the page showed last."""
    return st.session_state.get(_key(page), otherwise)


def generation(what: object) -> int:
    """Counts the changes of what is shown. A rerun without one gives the same bytes, which stay unsent."""
    session = st.session_state
    if session.get("shown") != what:
        session.shown, session.generation = what, session.get("generation", 0) + 1
    return int(session.generation)


def _key(page: str) -> str:
    return f"{page}.last"
