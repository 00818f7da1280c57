"""Positions: how a model that sees a set of words learns their order."""

from pages.lab import page
from pages.lab.lesson import LabPage
from pages.lab.positions import biases, learned, length, order, rotary, schemes, shift, waves
from pages.lab.positions.inputs import Inputs

PAGE = LabPage(
    "positions",
    "Positions",
    Inputs,
    (waves.PART, shift.PART, learned.PART, rotary.PART, biases.PART, schemes.PART, order.PART, length.PART),
)

page.run(PAGE)
