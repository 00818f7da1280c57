"""Positions: how a model that sees a set of words learns their order."""

from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.lab.page import run

run(lab_page("positions"))
