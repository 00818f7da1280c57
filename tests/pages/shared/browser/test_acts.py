"""What components may ask for: every act of theirs, and nothing that JSON can say beside."""

import json
from typing import Any

import pytest

from pages.explore.stage.component import ACTS
from pages.shared.browser.acts import MOST_ACTS, MOST_CHARACTERS, checked


def said(*acts: Any) -> str:
    return json.dumps([{"event": "act", "value": act} for act in acts])


def test_acts_are_taken_with_the_fields_that_they_have() -> None:
    opened = {"type": "open", "stack": "encoder.self", "layer": 1, "head": 2, "q0": 0, "k0": 0}
    shown = {"type": "takeaway", "heads": [0, 1], "step": None, "more": {"deep": [1]}}
    assert checked(said(opened, shown), ACTS) == [opened, {"type": "takeaway", "heads": [0, 1]}]
    assert checked(json.dumps({"event": "act", "value": {"type": "text", "text": "a"}}), ACTS) == [
        {"type": "text", "text": "a"}
    ]


@pytest.mark.parametrize(
    "raw",
    [
        None,
        7,
        "",
        "no JSON",
        "[" * 100_000,
        "[7]",
        '[{"event": "act"}]',
        '[{"event": "other", "value": {"type": "text"}}]',
        said([1]),
        said({}),
        said({"type": ["text"]}),
        said({"type": "edit"}),
        said({"type": "text", "text": 7}),
        said({"type": "open", "layer": True}),
        said({"type": "open", "layer": 1.5}),
        said({"type": "takeaway", "heads": [[0]]}),
        said({"type": "takeaway", "heads": {"0": 0}}),
        said(*[{"type": "text"}] * (MOST_ACTS + 1)),
        said({"type": "text", "text": "a" * MOST_CHARACTERS}),
    ],
)
def test_whatever_else_is_refused(raw: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        checked(raw, ACTS)


def test_half_a_character_is_replaced_since_nobody_can_write_it() -> None:
    raw = '[{"event": "act", "value": {"type": "text", "text": "a\\ud83d"}}]'
    assert checked(raw, ACTS) == [{"type": "text", "text": "a\ufffd"}]
