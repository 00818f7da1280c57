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
from pages.shared import dear, memory, visitors
from pages.shared.affordable import BILLION


def is_dear(inputs: Inputs, price: int | None = None) -> bool:
    """Whether the figure of these inputs would make other visitors of a class wait.

    price: the operations of another figure of theirs, by default those of a trace.
    """
    asked = operations_of(inputs) if price is None else price
    return visitors.is_class() and asked > BILLION * in_force().cheap_billions


def runner(
    inputs: Inputs, price: int | None = None, *, is_wanted: Callable[[], Any] = lambda: None
) -> Callable[..., Any]:
    """Function that calls another one, with its arguments, where the figure of these inputs is computed.

    It is made on the thread of the page, which knows the visitor, and may be called on any. The functions
    that it calls are at a module's top level. is_wanted: see Workshop.run.
    """
    if not is_dear(inputs, price):
        return _call
    return partial(dear.workshop.run, visitor=visitors.visitor().id, is_wanted=is_wanted)


def _call(function: Callable[..., Any], *given: Any) -> Any:
    memory.check()
    return function(*given)


def still_wanted() -> None:
    """Reads the session: Streamlit then raises if the visitor has left or asked for something else."""
    st.session_state.get("page")


@contextmanager
def told(inputs: Inputs, slot: DeltaGenerator | None, price: int | None = None) -> Iterator[None]:
    """Within it, the page says in this slot that a dear figure is computed; slot: an `st.empty`."""
    if slot is None or not is_dear(inputs, price):
        yield
        return
    asked = operations_of(inputs) if price is None else price
    slot.html(
        f'<div class="computing" role="status">This figure takes up to {asked / BILLION:,.3g} billion '
        "operations: a process of its own "
        f"computes it, in at most {in_force().dear_seconds} seconds, after what others asked for.</div>"
    )
    try:
        yield
    finally:
        slot.empty()
