"""Heads and dimensions: what a head is, what each adds, what heads cost."""

from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.lab.page import run

run(lab_page("heads"))
