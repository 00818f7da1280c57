"""Presets of all parts: what a click sets up is never what a first visit shows already."""

from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from attention_lab.pages import lab
from attention_lab.pages.lab.lesson import LabPage, Lesson, Part, Try, lab_page
from attention_lab.pages.shared.lab_stops import NAMES

LAB = Path(lab.__path__[0])
PARTS = [(lab, part) for lab in map(lab_page, NAMES) for part in lab.parts]


@cache
def lessons(lab: str, part: str) -> list[Lesson]:
    """Computes a part as it opens, at each step and after each possible experiment, once for all tests."""
    page = lab_page(lab)
    own = page.find_part(part)
    steps = page.state.params[own.walks].rule.options if own.walks else ()
    made = []
    for values in ({}, *({own.walks: step} for step in steps), *(each.set for each in own.tries)):
        with suppress(ValueError):
            made.append(own.lesson(page.computed_from(own, replace(page.inputs(), **values))))
    return made


def first_lesson(lab: str, part: str) -> Lesson:
    """Computes a part as a first visit shows it."""
    return lessons(lab, part)[0]


def shown(lab: LabPage, part: Part, inputs: object) -> tuple[object, ...]:
    """What a part shows for some inputs: those that it depends on, and the frame that its scrub stands at."""
    own = tuple(getattr(inputs, name) for name in part.fields if name != part.scrub)
    if not part.scrub:
        return own
    values = part.lesson(lab.computed_from(part, inputs)).board.scrub.values
    return (*own, int(np.abs(values - getattr(inputs, part.scrub)).argmin()))


def test_all_pages_and_parts_are_looked_at() -> None:
    assert sorted(NAMES) == sorted(file.parent.name for file in LAB.glob("*/inputs.py"))
    modules = {tuple(path.parts[-2:]) for path in LAB.glob("*/*.py") if "PART = " in path.read_text()}
    assert {(lab.name, f"{part.name}.py") for lab, part in PARTS} == modules
    assert len(PARTS) > 35
    assert all(2 <= len(part.tries) <= 4 for _, part in PARTS)


@pytest.mark.parametrize(
    ("lab", "part", "preset"),
    [(lab, part, preset) for lab, part in PARTS for preset in part.tries],
    ids=lambda value: value.name if isinstance(value, LabPage | Part) else value.label,
)
def test_no_preset_repeats_what_is_shown_already(lab: LabPage, part: Part, preset: Try) -> None:
    usual = lab.inputs()
    changed = {name: value for name, value in preset.set.items() if getattr(usual, name) != value}
    assert set(preset.set) <= set(part.fields), "a preset sets what its part does not show"
    assert changed, f"{part.label}: {preset.label!r} is what a first visit shows"
    if set(changed) == {part.scrub}:
        assert shown(lab, part, replace(usual, **changed)) != shown(lab, part, usual)


@pytest.mark.parametrize(("lab", "part"), PARTS, ids=lambda value: value.name)
def test_a_headline_has_at_most_20_words_at_every_position_of_the_slider(lab: LabPage, part: Part) -> None:
    notice = first_lesson(lab.name, part.name).board.notice
    longest = max([notice] if isinstance(notice, str) else notice, key=lambda said: len(said.split()))
    assert len(longest.split()) <= 20


@pytest.mark.parametrize(
    "place",
    ["design.paths", "design.memory", "design.calculator", "objective.targets", "objective.gradient",
     "objective.warmup"],
)  # fmt: skip
def test_an_experiment_changes_one_thing_whatever_was_tried_before(place: str) -> None:
    page, name = place.split(".")
    fields = [experiment.set.keys() for experiment in lab_page(page).find_part(name).tries]
    assert fields[0] == fields[1] == fields[2]
