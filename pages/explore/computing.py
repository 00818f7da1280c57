"""Where a figure of Explore is computed: by the server, or, in a class, by the process for what is dear."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.limits import in_force
from pages.explore.price import operations_of
from pages.explore.state import Inputs
from pages.explore.subject import BILLION
from pages.shared import dear, memory, visitors


def is_dear(inputs: Inputs) -> bool:
    """Whether the figure of these inputs would make other visitors of a class wait."""
    return visitors.is_class() and operations_of(inputs) > BILLION * in_force().cheap_billions


def runner(inputs: Inputs, *, is_wanted: Callable[[], Any] = lambda: None) -> Callable[..., Any]:
    """Function that calls another one, with its arguments, where the figure of these inputs is computed.

    It is made on the thread of the page, which knows the visitor, and may be called on any. The functions
    that it calls are at a module's top level. is_wanted: see Workshop.run.
    """
    if not is_dear(inputs):
        return _call
    return partial(dear.workshop.run, visitor=visitors.visitor().id, is_wanted=is_wanted)


def _call(function: Callable[..., Any], *given: Any) -> Any:
    memory.check()
    return function(*given)


def still_wanted() -> None:
    """Reads the session: Streamlit then raises if the visitor has left or asked for something else."""
    st.session_state.get("page")


@contextmanager
def told(inputs: Inputs, slot: DeltaGenerator | None) -> Iterator[None]:
    """Within it, the page says in this slot that a dear figure is computed; slot: an `st.empty`."""
    if slot is None or not is_dear(inputs):
        yield
        return
    price = f"{operations_of(inputs) / BILLION:,.3g} billion operations"
    slot.html(
        f'<div class="computing" role="status">This figure takes up to {price}: a process of its own '
        f"computes it, in at most {in_force().dear_seconds} seconds, after what others asked for.</div>"
    )
    try:
        yield
    finally:
        slot.empty()
