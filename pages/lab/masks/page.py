"""Masks: who may look at whom."""

from pages.lab import page
from pages.lab.lesson import LabPage
from pages.lab.masks import cost, graph, late, mask, padding, reach
from pages.lab.masks.inputs import Inputs

PAGE = LabPage(
    "masks", "Masks", Inputs, (mask.PART, reach.PART, cost.PART, late.PART, padding.PART, graph.PART)
)

page.run(PAGE)
