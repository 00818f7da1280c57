"""Attention, step by step."""

from pages.lab import page
from pages.lab.attention import films, order, steps, worked
from pages.lab.attention.inputs import Inputs
from pages.lab.lesson import LabPage, Part

PAGE = LabPage(
    name="attention",
    title="Attention, step by step",
    inputs=Inputs,
    parts=(
        Part(
            name="steps",
            label="Steps",
            fields=("step", "tokens", "X", "queries", "Q", "matrices", "seed", "n_heads"),
            lesson=steps.lesson,
            controls=steps.controls,
            tries=steps.TRIES,
            questions=steps.questions,
        ),
        Part(
            name="worked",
            label="Worked example",
            fields=("dots", "V", "divisor"),
            lesson=worked.lesson,
            controls=worked.controls,
            tries=worked.TRIES,
            questions=worked.questions,
            scrub="divisor",
        ),
        Part(
            name="order",
            label="Order",
            fields=("sentence", "reordered", "order_seed"),
            lesson=order.lesson,
            controls=order.controls,
            tries=order.TRIES,
            questions=order.questions,
        ),
        Part(
            name="films",
            label="Dot product",
            fields=("viewers", "tastes", "films", "features"),
            lesson=films.lesson,
            controls=films.controls,
            tries=films.TRIES,
            questions=films.questions,
        ),
    ),
)

page.run(PAGE)
