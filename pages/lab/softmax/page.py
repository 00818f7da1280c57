"""Softmax and scale: what large scores do to attention, and why it divides by sqrt(d_k)."""

from pages.lab import page
from pages.lab.lesson import LabPage, Part
from pages.lab.softmax import dot_products, formats, reading, spread, temperature
from pages.lab.softmax.inputs import Inputs

PAGE = LabPage(
    name="softmax",
    title="Softmax and scale",
    inputs=Inputs,
    parts=(
        Part(
            name="spread",
            label="Spread",
            fields=("deviation", "n_logits", "seed"),
            lesson=spread.lesson,
            controls=spread.controls,
            tries=spread.TRIES,
            questions=spread.questions,
            scrub="deviation",
        ),
        Part(
            name="dots",
            label="Dot products",
            fields=("d_k", "n_keys", "seed"),
            lesson=dot_products.lesson,
            controls=dot_products.controls,
            tries=dot_products.TRIES,
            questions=dot_products.questions,
            scrub="d_k",
        ),
        Part(
            name="head",
            label="A real head",
            fields=("temperature", "text", "stack", "layer", "head", "scope", "query", "step"),
            lesson=temperature.lesson,
            controls=reading.controls,
            tries=temperature.TRIES,
            questions=temperature.questions,
            scrub="temperature",
        ),
        Part(
            name="formats",
            label="Number formats",
            fields=("height",),
            lesson=formats.lesson,
            controls=formats.controls,
            tries=formats.TRIES,
            questions=formats.questions,
            scrub="height",
        ),
    ),
)

page.run(PAGE)
