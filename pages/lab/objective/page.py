"""What training optimises: targets, cross-entropy, its gradient, and the learning rate."""

from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.lab.page import run

run(lab_page("objective"))
