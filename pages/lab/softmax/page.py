"""Softmax and scale: what large scores do to attention, and why it divides by sqrt(d_k)."""

from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.lab.page import run

run(lab_page("softmax"))
