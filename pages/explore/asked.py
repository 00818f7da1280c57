"""What the stage asks to have computed beside the trace, for what it shows at that moment and no longer."""

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.explore import computing
from pages.explore.state import Inputs
from pages.shared import cache
from pages.shared.shown import last

Maker = Callable[..., dict[str, Any]]


def note(name: str, *what: Any) -> None:
    """Notes that the stage wants this of what it shows now."""
    st.session_state[name] = (last("explore", Inputs()), what)


def answer(name: str, inputs: Inputs, slot: DeltaGenerator | None, maker: Maker) -> dict[str, Any]:
    """What was noted under this name as "asked", with what was computed, or the "problem" that forbids it;
    nothing where nothing was noted of these inputs.

    maker: is called with the inputs and what was noted; one at a module's top level.
    """
    asked_of, what = st.session_state.get(name, (None, ()))
    if asked_of != inputs:
        return {}

    try:
        with computing.told(inputs, slot) as waiting:
            run = computing.runner(inputs, is_wanted=waiting.look)

            def make() -> tuple[dict[str, Any], int]:
                found = run(maker, inputs, *what)
                return found, cache.held_by(str(found)) + 1_000

            key = (name, inputs, *what)
            dear = computing.is_dear(inputs)
            found = make()[0] if dear else cache.cached(cache.results, key, make, waiting.look)
    except ValueError as error:
        found = {"problem": str(error)}
    return {"asked": list(what), **found}
