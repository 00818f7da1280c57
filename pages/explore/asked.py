"""What the stage asks to have computed beside the trace, for what it shows at that moment and no longer."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.zoo.offers import offer_of
from pages.explore import computing
from pages.explore.price import operations_of
from pages.explore.state import Inputs
from pages.shared import cache
from pages.shared.shown import last

Maker = Callable[..., dict[str, Any]]


def note(name: str, *what: Any) -> None:
    """Notes that the stage wants this of what it shows now."""
    st.session_state[name] = (last("explore", Inputs()), what)


def answer(
    name: str,
    inputs: Inputs,
    slot: DeltaGenerator | None,
    maker: Maker,
    price: Callable[..., int] | None = None,
    *,
    tells: bool = False,
) -> dict[str, Any]:
    """What was noted under this name as "asked", with what was computed, or the "problem" that forbids it;
    nothing where nothing was noted of these inputs.

    maker: is called with the inputs and what was noted; one at a module's top level. price: of the same, the
    operations that it takes, by default those of a trace. tells: whether it takes a function `told` as well,
    which ends it where nobody waits.
    """
    asked_of, what = st.session_state.get(name, (None, ()))
    if asked_of != inputs:
        return {}
    asked = price(inputs, *what) if price else operations_of(inputs)
    try:
        with computing.told(inputs, slot, asked) as waiting:
            dear = computing.is_dear(inputs, asked)
            run = computing.runner(inputs, asked, is_wanted=waiting.look)
            # Another process cannot call this one's functions; it is ended as a whole.
            made_by = partial(maker, told=waiting.heard) if tells and not dear else maker

            def make() -> tuple[dict[str, Any], int]:
                found = run(made_by, inputs, *what)
                return found, cache.held_by(str(found)) + 1_000

            offer = offer_of(inputs.model)
            key = (name, inputs, offer.stamp if offer else None, *what)
            found = make()[0] if dear else cache.cached(cache.results, key, make, waiting.look)
    except ValueError as error:
        found = {"problem": f"{str(error).removesuffix('.')}."}
    return {"asked": list(what), **found}
