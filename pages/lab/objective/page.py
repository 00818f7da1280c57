"""What training optimises: targets, cross-entropy, its gradient, and the learning rate."""

from pages.lab.lesson import lab_page
from pages.lab.page import run

run(lab_page("objective"))
