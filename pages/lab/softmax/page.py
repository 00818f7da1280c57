"""Softmax and scale: what large scores do to attention, and why it divides by sqrt(d_k)."""

from pages.lab import page
from pages.lab.lesson import LabPage
from pages.lab.softmax import dot_products, formats, spread, temperature
from pages.lab.softmax.inputs import Inputs

PAGE = LabPage(
    "softmax", "Softmax and scale", Inputs, (spread.PART, dot_products.PART, temperature.PART, formats.PART)
)

page.run(PAGE)
