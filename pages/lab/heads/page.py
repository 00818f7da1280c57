"""Heads and dimensions: what a head is, what each adds, what heads cost."""

from __future__ import annotations

from pages.lab import page
from pages.lab.heads import contributions, cost, cut, recut, subject
from pages.lab.heads.inputs import Inputs
from pages.lab.lesson import LabPage, Part

PAGE = LabPage(
    name="heads",
    title="Heads and dimensions",
    inputs=Inputs,
    parts=(
        Part(
            name="cut",
            label="Cut into heads",
            fields=(*subject.FIELDS, "head"),
            lesson=cut.lesson,
            controls=subject.controls,
            tries=cut.TRIES,
            questions=cut.questions,
            scrub="head",
        ),
        Part(
            name="contributions",
            label="What each adds",
            fields=(*subject.FIELDS, "query"),
            lesson=contributions.lesson,
            controls=subject.controls,
            tries=contributions.TRIES,
            questions=contributions.questions,
            scrub="query",
        ),
        Part(
            name="cost",
            label="Narrow or wide",
            fields=cost.FIELDS,
            lesson=cost.lesson,
            controls=cost.controls,
            tries=cost.TRIES,
            questions=cost.questions,
            scrub="heads",
        ),
        Part(
            name="recut",
            label="1, 2, 4, 8 heads",
            fields=recut.FIELDS,
            lesson=recut.lesson,
            controls=recut.controls,
            tries=recut.TRIES,
            questions=recut.questions,
            scrub="query",
        ),
    ),
)

page.run(PAGE)
