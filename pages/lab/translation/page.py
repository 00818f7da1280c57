"""Encoder and decoder: the translator at work, and ways to choose and to train its words."""

from pages.lab import page
from pages.lab.lesson import LabPage
from pages.lab.translation import beam, flow, forcing, sampling, three
from pages.lab.translation.inputs import Inputs

PAGE = LabPage(
    "translation",
    "Encoder and decoder",
    Inputs,
    (flow.PART, three.PART, beam.PART, sampling.PART, forcing.PART),
)

page.run(PAGE)
