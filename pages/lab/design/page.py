"""Design and cost: what an output can see, what a layer costs, how large models are, where memory goes."""

from pages.lab.lesson import lab_page
from pages.lab.page import run

run(lab_page("design"))
