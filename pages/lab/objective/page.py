"""What training optimises: targets, cross-entropy, its gradient, and the learning rate."""

from pages.lab import page
from pages.lab.lesson import LabPage
from pages.lab.objective import gradient, letters, loss, targets, warmup
from pages.lab.objective.inputs import Inputs

PAGE = LabPage(
    "objective",
    "What training optimises",
    Inputs,
    (targets.PART, loss.PART, letters.PART, gradient.PART, warmup.PART),
)

page.run(PAGE)
