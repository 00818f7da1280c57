"""Softmax and scale: what large scores do to attention, and why it divides by sqrt(d_k)."""

from pages.lab import page
from pages.lab.lesson import LabPage
from pages.lab.softmax import dots, formats, head, spread
from pages.lab.softmax.inputs import Inputs

PAGE = LabPage("softmax", "Softmax and scale", Inputs, (spread.PART, dots.PART, head.PART, formats.PART))

page.run(PAGE)
