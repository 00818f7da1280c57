"""Masks: who may look at whom."""

from pages.lab import page
from pages.lab.lesson import LabPage
from pages.lab.masks import cost, equation, graph, padding, reach, too_late
from pages.lab.masks.inputs import Inputs

PAGE = LabPage(
    "masks", "Masks", Inputs, (equation.PART, reach.PART, cost.PART, too_late.PART, padding.PART, graph.PART)
)

page.run(PAGE)
