"""Attention, step by step."""

from pages.lab import page
from pages.lab.attention import films, order, steps, worked
from pages.lab.attention.inputs import Inputs
from pages.lab.lesson import LabPage

PAGE = LabPage(
    "attention", "Attention, step by step", Inputs, (steps.PART, worked.PART, order.PART, films.PART)
)

page.run(PAGE)
