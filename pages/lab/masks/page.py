"""Masks: who may look at whom."""

from pages.lab import page
from pages.lab.lesson import LabPage, Part
from pages.lab.masks import cost, equation, graph, padding, reach, too_late
from pages.lab.masks.inputs import Inputs

PAGE = LabPage(
    "masks",
    "Masks",
    Inputs,
    (
        Part(
            "mask", "Mask", ("mask", "argument", "n", "scores"),
            equation.lesson, equation.controls, equation.TRIES, equation.questions,
        ),
        Part(
            "reach", "Reach", ("flow", "flow_argument", "length", "layers"),
            reach.lesson, reach.controls, reach.TRIES, reach.questions, scrub="layers",
        ),
        Part(
            "cost", "Cost", ("text_length", "stride"),
            cost.lesson, cost.controls, cost.TRIES, cost.questions, scrub="stride",
        ),
        Part(
            "late", "After softmax", ("mask", "argument", "n", "scores", "query", "hidden"),
            too_late.lesson, too_late.controls, too_late.TRIES, too_late.questions, scrub="hidden",
        ),
        Part(
            "padding", "Padding", ("padding", "seed"),
            padding.lesson, padding.controls, padding.TRIES, padding.questions,
        ),
        Part(
            "graph", "Graph", ("graph", "changed", "seed"),
            graph.lesson, graph.controls, graph.TRIES, graph.questions,
        ),
    ),
)  # fmt: skip

page.run(PAGE)
