"""Presets of all parts: what a click sets up is never what a first visit shows already."""

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pages.lab
from pages.lab import page
from pages.lab.lesson import LabPage, Part, Try

NAMES = sorted(file.parent.name for file in Path(pages.lab.__path__[0]).glob("*/page.py"))


def pages_of_the_lab() -> list[LabPage]:
    """Every page as its file makes it, without running it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "run", lambda made: None)
        return [importlib.import_module(f"pages.lab.{name}.page").PAGE for name in NAMES]


PARTS = [(lab, part) for lab in pages_of_the_lab() for part in lab.parts]


def shown(lab: LabPage, part: Part, inputs: object) -> tuple[object, ...]:
    """What a part shows for some inputs: those that it depends on, and the frame that its scrub stands at."""
    own = tuple(getattr(inputs, name) for name in part.fields if name != part.scrub)
    if not part.scrub:
        return own
    values = part.lesson(lab.computed_from(part, inputs)).board.scrub.values
    return (*own, int(np.abs(values - getattr(inputs, part.scrub)).argmin()))


def test_all_pages_and_parts_are_looked_at() -> None:
    assert len(NAMES) == 9
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
