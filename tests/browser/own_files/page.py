"""A page of the lab whose board has two kinds of panels of one's own."""

from dataclasses import dataclass

import numpy as np

from attention_lab.models.fields import setting, whole
from attention_lab.pages.lab import page
from attention_lab.pages.lab.lesson import LabPage, Lesson, Part, Question, Try
from attention_lab.viz_core.boards import Scrub
from attention_lab.viz_core.boards.panels.falls import Falls
from attention_lab.viz_core.boards.panels.gauge import Gauge


@dataclass(frozen=True)
class Inputs:
    """The scrub alone."""

    hour: int = setting(1, whole(0, 2))


def lesson(_: Inputs) -> Lesson:
    panels = [
        Gauge(title="pressure", reading=np.array([0.5, 1.5, 2.0]), most=2),
        Falls(title="sample", sample=np.array([1.0, 2, 3, 4, 5])),
    ]
    scrub = Scrub(field="hour", label="hour", values=np.array([0, 1, 2]))
    return Lesson(rows=[panels], notice="", scrub=scrub, formula="p", sizes="1", shapes=(), code=(lesson,))


def questions() -> tuple[Question, ...]:
    return (Question("Does it rise?", "It does.", ("Yes", "No"), right=0),)


PARTS = tuple(
    Part(name, label, (), lesson, (Try("last hour", {"hour": 2}),), questions, scrub="hour")
    for name, label in (("one", "One"), ("two", "Two"))
)
page.run(LabPage("objective", "What training optimises", Inputs, PARTS))
