"""Attention, step by step."""

from pages.lab.lesson import lab_page
from pages.lab.page import run

run(lab_page("attention"))
