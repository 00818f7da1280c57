"""Design and cost: what an output can see, what a layer costs, how large models are, where memory goes."""

from __future__ import annotations

from pages.lab import page
from pages.lab.design import calculator, layers, memory, paths, sizes
from pages.lab.design.inputs import Inputs
from pages.lab.lesson import LabPage, Part

PAGE = LabPage(
    name="design",
    title="Design and cost",
    inputs=Inputs,
    parts=(
        Part(
            "paths", "Paths", paths.FIELDS, paths.lesson, paths.controls, paths.TRIES, paths.questions,
            scrub="step",
        ),
        Part(
            "layers", "Cost of a layer", layers.FIELDS, layers.lesson, layers.controls, layers.TRIES,
            layers.questions, scrub="length",
        ),
        Part(
            "calculator", "Calculator", sizes.FIELDS, calculator.lesson, sizes.controls, calculator.TRIES,
            calculator.questions, scrub="tokens",
        ),
        Part(
            "memory", "Memory", memory.FIELDS, memory.lesson, memory.controls, memory.TRIES, memory.questions,
            scrub="t",
        ),
    ),
)  # fmt: skip

page.run(PAGE)
