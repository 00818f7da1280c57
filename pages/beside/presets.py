"""Comparisons that show what the page is for, each set by one press."""

from __future__ import annotations

from typing import Any

from models.zoo.offers import DEFAULT, offers
from pages.beside import state
from pages.shared import on_offer

LOOK = ("stack", "layer", "head", "at")
USUAL = {"model": DEFAULT, "text": state.TEXT, "with": "", "frame": state.CHOSEN, "at": -1}
PRESETS: dict[str, dict[str, Any]] = {
    "tired or wide": {"differs": "text", "text2": state.OTHER_TEXT, "layer": 1, "head": 3},
    "colder, hotter": {"differs": "temperature", "temperature": "0.5", "layer": 0, "head": 0},
    "taught pronouns or not": {"differs": "model", "model2": state.SECOND, "matched": "likeness"},
    "float32 or int8": {"differs": "format", "format": "int8"},
    "a head that forms": {
        "model": "induction", "text": offers()["induction"].text, "differs": "step", "step": "",
        "stack": "decoder.self", "layer": 1, "head": 0,
    },
}  # fmt: skip


def offered() -> dict[str, dict[str, Any]]:
    """What each press sets, of those whose models are on offer here."""
    wholes: dict[str, dict[str, Any]] = {
        name: USUAL | {"stack": "encoder.self"} | given for name, given in PRESETS.items()
    }
    return {
        name: given
        for name, given in wholes.items()
        if all(on_offer.may_open(given[key]) for key in ("model", "model2") if key in given)
    }
