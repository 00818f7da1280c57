"""Design and cost: what an output can see, what a layer costs, how large models are, where memory goes."""

from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.lab.page import run

run(lab_page("design"))
