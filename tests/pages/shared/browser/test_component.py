"""What components may ask for: every act of theirs, and nothing that JSON can say beside."""

import json
from typing import Any

import pytest

from attention_lab.pages.explore.component import ACTS, VIEW
from attention_lab.pages.shared.browser.component import MOST_ACTS, MOST_CHARACTERS, acts_of_message


def said(*acts: Any) -> str:
    return json.dumps([{"event": "act", "value": act} for act in acts])


OPENED = {
    "type": "open", "stack": "encoder.self", "layer": 1, "head": 2, "q0": 0, "k0": 0, "special": "shown",
}  # fmt: skip
FIELDS = {name: "" if kind is str else 0 for name, kind in VIEW.items()}
SHOWN = {
    "type": "takeaway",
    **FIELDS,
    "heads": [0, 1],
    "beat": 1,
    "step": 0,
    "query": 0,
    "key": 0,
    "limit": 0.5,
}
SHOWN |= {"among": [2, 5], "address": "http://127.0.0.1:8501/?view=head"}


def test_a_field_may_be_of_one_of_several_kinds() -> None:
    for limit in (0.5, 5):
        assert acts_of_message(said({**SHOWN, "limit": limit}), ACTS) == [{**SHOWN, "limit": limit}]
    for limit in ("5", None, True):
        with pytest.raises(ValueError, match="limit is of another kind"):
            acts_of_message(said({**SHOWN, "limit": limit}), ACTS)


def test_acts_are_taken_as_they_are_declared() -> None:
    assert acts_of_message(said(OPENED, SHOWN), ACTS) == [OPENED, SHOWN]
    assert acts_of_message(json.dumps({"event": "act", "value": {"type": "text", "text": "a"}}), ACTS) == [
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
        said({"type": "text"}),
        said({"type": "text", "text": None}),
        said({"type": "text", "text": "a", "more": {"deep": [1]}}),
        said({**OPENED, "layer": True}),
        said({**OPENED, "layer": 1.5}),
        said({**OPENED, "layer": None}),
        said({name: value for name, value in OPENED.items() if name != "k0"}),
        said({**SHOWN, "heads": [[0]]}),
        said({**SHOWN, "heads": [True]}),
        said({**SHOWN, "heads": {"0": 0}}),
        said({**SHOWN, "step": None}),
        said(*[{"type": "text", "text": ""}] * (MOST_ACTS + 1)),
        said({"type": "text", "text": "a" * MOST_CHARACTERS}),
    ],
)
def test_whatever_else_is_refused(raw: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        acts_of_message(raw, ACTS)


def test_half_a_character_is_replaced_since_nobody_can_write_it() -> None:
    raw = '[{"event": "act", "value": {"type": "text", "text": "a\\ud83d"}}]'
    assert acts_of_message(raw, ACTS) == [{"type": "text", "text": "a\ufffd"}]
