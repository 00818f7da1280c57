"""Encoder and decoder: the translator at work, and ways to choose and to train its words."""

from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.lab.page import run

run(lab_page("translation"))
