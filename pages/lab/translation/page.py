"""Encoder and decoder: the translator at work, and ways to choose and to train its words."""

from __future__ import annotations

from pages.lab import page
from pages.lab.lesson import LabPage, Part
from pages.lab.translation import beam, flow, forcing, sampling, subject, three
from pages.lab.translation.inputs import Inputs

PAGE = LabPage(
    name="translation",
    title="Encoder and decoder",
    inputs=Inputs,
    parts=(
        Part(
            name="flow",
            label="The translator at work",
            fields=(*subject.FIELDS, "moment"),
            lesson=flow.lesson,
            controls=subject.controls,
            tries=flow.TRIES,
            questions=flow.questions,
            scrub="moment",
        ),
        Part(
            name="three",
            label="Three attentions",
            fields=(*subject.FIELDS, "head"),
            lesson=three.lesson,
            controls=subject.controls,
            tries=three.TRIES,
            questions=three.questions,
            scrub="head",
        ),
        Part(
            name="beam",
            label="Greedy or beam",
            fields=beam.FIELDS,
            lesson=beam.lesson,
            controls=beam.controls,
            tries=beam.TRIES,
            questions=beam.questions,
            scrub="step",
        ),
        Part(
            name="sampling",
            label="Sampling",
            fields=sampling.FIELDS,
            lesson=sampling.lesson,
            controls=sampling.controls,
            tries=sampling.TRIES,
            questions=sampling.questions,
            scrub="temperature",
        ),
        Part(
            name="forcing",
            label="Teacher forcing",
            fields=forcing.FIELDS,
            lesson=forcing.lesson,
            controls=forcing.controls,
            tries=forcing.TRIES,
            questions=forcing.questions,
            scrub="at",
        ),
    ),
)

page.run(PAGE)
