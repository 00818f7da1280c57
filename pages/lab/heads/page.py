"""Heads and dimensions: what a head is, what each adds, what heads cost."""

from pages.lab import page
from pages.lab.heads import contributions, cost, cut, recut
from pages.lab.heads.inputs import Inputs
from pages.lab.lesson import LabPage

PAGE = LabPage("heads", "Heads and dimensions", Inputs, (cut.PART, contributions.PART, cost.PART, recut.PART))

page.run(PAGE)
