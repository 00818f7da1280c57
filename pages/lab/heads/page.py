"""Heads and dimensions: what a head is, what each adds, what heads cost."""

from pages.lab.lesson import lab_page
from pages.lab.page import run

run(lab_page("heads"))
