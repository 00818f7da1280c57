"""Positions: how a model that sees a set of words learns their order."""

from pages.lab.lesson import lab_page
from pages.lab.page import run

run(lab_page("positions"))
