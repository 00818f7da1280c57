"""Design and cost: what an output can see, what a layer costs, how large models are, where memory goes."""

from pages.lab import page
from pages.lab.design import calculator, layers, memory, paths
from pages.lab.design.inputs import Inputs
from pages.lab.lesson import LabPage

PAGE = LabPage("design", "Design and cost", Inputs, (paths.PART, layers.PART, calculator.PART, memory.PART))

page.run(PAGE)
