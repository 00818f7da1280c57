"""What heads do with random tokens that are read twice in a row: a property of the model, whatever the text.

It is computed when a measure of it is chosen, and once for a model and the settings that build it.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.data.tasks.alphabet import Repeated
from models.zoo.model import Model
from models.zoo.offers import offer_of
from pages.explore import computing
from pages.explore.measured import shares
from pages.explore.price import operations_of
from pages.explore.state import Inputs, settings_of
from pages.shared import cache
from pages.shared.affordable import BILLION, affordable
from pages.shared.shown import last
from viz_core.measures import MEASURES, head_scores

TEXTS = 4
"""Random texts, of which each measure is the mean."""
LONGEST = 52
"""Tokens of such a text, about: two halves of 25, and special ones."""
NAMES = tuple(measure.name for measure in MEASURES if measure.needs == "repeat")


def made(inputs: Inputs) -> dict[str, Any]:
    """By stack and measure a number per head [layer * head], and a sentence on what was read.

    Raises ValueError, with a sentence, for a model that reads no tokens, and for too much work.
    """
    model = cache.model(inputs.model, inputs.settings)
    texts = [model.repeated(seed) for seed in range(TEXTS)]
    _check_price(model, texts[0])
    stacks = [s for s in model.stacks(tuple(texts[0].starts)) if s.endswith(".self")]
    read = [cache.on_worker(lambda text=text: _scores(model, text, stacks)) for text in texts]
    stats = {
        stack: {name: _mean([scores[stack][name] for scores in read]) for name in NAMES} for stack in stacks
    }
    n = texts[0].n
    said = f"Means over {TEXTS} texts of {n} random tokens that the model read twice in a row."
    return {"stats": stats, "said": said}


def _scores(model: Model, text: Repeated, stacks: list[str]) -> dict[str, dict[str, list[np.ndarray]]]:
    """Of each layer of the stacks, the measures of its heads."""
    found: dict[str, dict[str, list[np.ndarray]]] = {stack: {name: [] for name in NAMES} for stack in stacks}

    def take(address: str, tensor: Any) -> None:
        side, _, kind, name = (*address.split("."), "", "", "")[:4]
        if name == "pattern" and (stack := f"{side}.{kind}") in found:
            scores = head_scores(shares(tensor.numpy()), cross=False, repeat=(text.starts[side], text.n))
            for each in NAMES:
                found[stack][each].append(scores[each])

    model.trace(text.reading, reduce=take)
    return found


def _mean(texts: list[list[np.ndarray]]) -> list[float]:
    """[text, layer, head] -> [layer * head]"""
    return [round(float(value), 4) for value in np.mean(texts, axis=0).ravel()]


def _check_price(model: Model, text: Repeated) -> None:
    lengths = [len(tokens) for tokens in text.reading.tokens.values()]
    price, most = TEXTS * model.operations(lengths), affordable()
    if price > most:
        raise ValueError(
            f"To read {TEXTS} random texts of {lengths[0]} tokens takes {price / BILLION:,.0f} billion "
            f"operations; at most {most / BILLION:,.0f} billion are computed for a figure; take a smaller "
            "model."
        )


def note() -> None:
    """Notes that the stage wants this of the model that it shows."""
    st.session_state.repeated = _whose(last("explore", Inputs()))


def answer(inputs: Inputs, slot: DeltaGenerator | None) -> dict[str, Any]:
    """What was computed of the model, or the "problem" that forbids it; nothing where nobody asked."""
    whose = _whose(inputs)
    if st.session_state.get("repeated") != whose:
        return {}
    key = ("repeated", *whose)
    price = TEXTS * operations_of(Inputs(inputs.model, "x " * LONGEST, **inputs.settings))
    run = computing.runner(inputs, price, is_wanted=computing.still_wanted)

    def make() -> tuple[dict[str, Any], int]:
        found = run(made, inputs)
        return found, cache.held_by(str(found)) + 1_000

    try:
        if not computing.is_dear(inputs, price):
            return dict(cache.cached(cache.results, key, make))
        if (known := cache.results.get(key)) is None:
            with computing.told(inputs, slot, price):
                known, size = make()
            cache.results.put(key, known, size)
        return dict(known)
    except ValueError as error:
        return {"problem": f"{str(error).removesuffix('.')}."}


def _whose(inputs: Inputs) -> tuple[Hashable, ...]:
    """The model as it is now, with the settings that build it."""
    building = {s.name for s in settings_of(inputs.model) if s.builds}
    offer = offer_of(inputs.model)
    given = ((name, value) for name, value in inputs.settings.items() if name in building)
    return (inputs.model, None if offer is None else offer.stamp, *given)
