"""Positions: how a model that sees a set of words learns their order."""

from pages.lab import page
from pages.lab.lesson import LabPage, Part
from pages.lab.positions import biases, learned, length, order, rotary, schemes, shift, waves
from pages.lab.positions.inputs import Inputs

PAGE = LabPage(
    "positions",
    "Positions",
    Inputs,
    (
        Part(
            "waves", "Waves", ("d_model", "base"),
            waves.lesson, waves.controls, waves.TRIES, waves.questions, scrub="base",
        ),
        Part(
            "shift", "Shift", ("start", "shift"),
            shift.lesson, shift.controls, shift.TRIES, shift.questions, scrub="shift",
        ),
        Part(
            "learned", "Learned", ("table", "place"),
            learned.lesson, learned.controls, learned.TRIES, learned.questions, scrub="place",
        ),
        Part(
            "rotary", "Rotary", ("distance", "vectors", "position"),
            rotary.lesson, rotary.controls, rotary.TRIES, rotary.questions, scrub="position",
        ),
        Part(
            "biases", "Biases", ("bias", "heads", "text", "layer", "head"),
            biases.lesson, biases.controls, biases.TRIES, biases.questions, scrub="head",
        ),
        Part(
            "schemes", "Side by side", ("text", "weights", "layer", "seed", "head"),
            schemes.lesson, schemes.controls, schemes.TRIES, schemes.questions, scrub="head",
        ),
        Part(
            "order", "Order", ("text", "order", "shuffle", "mask", "seed"),
            order.lesson, order.controls, order.TRIES, order.questions,
        ),
        Part(
            "length", "Length", ("times", "held_out"),
            length.lesson, length.controls, length.TRIES, length.questions,
        ),
    ),
)  # fmt: skip

page.run(PAGE)
