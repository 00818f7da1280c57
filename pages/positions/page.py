"""Positions: how a model that sees a set of words learns their order."""

from pages.positions import rotary, shift, waves
from pages.positions.inputs import Inputs
from pages.shared.lab import page
from pages.shared.lab.lesson import LabPage, Part

PAGE = LabPage(
    "positions",
    "Positions",
    Inputs,
    (
        Part(
            "waves", "Waves", ("d_model", "base"), waves.lesson, waves.controls, waves.TRIES, waves.questions,
            scrub="base",
        ),
        Part(
            "shift", "Shift", ("start", "shift"), shift.lesson, shift.controls, shift.TRIES, shift.questions,
            scrub="shift",
        ),
        Part(
            "rotary", "Rotary", ("distance", "vectors", "position"),
            rotary.lesson, rotary.controls, rotary.TRIES, rotary.questions, scrub="position",
        ),
    ),
)  # fmt: skip

page.run(PAGE)
