"""What components may ask for: every act of theirs, and nothing that JSON can say beside."""

import json
from typing import Any

import pytest

from attention_lab.pages.explore.component import ACTS
from attention_lab.pages.explore.figure import WHOLE
from attention_lab.pages.shared.browser.acts import MOST_ACTS, MOST_CHARACTERS, acts_of_message


def said(*acts: Any) -> str:
    return json.dumps([{"event": "act", "value": act} for act in acts])


FIELDS = {name: "" if kind is str else 0 for name, kind in WHOLE.items()}
SHOWN = {"type": "takeaway", **FIELDS, "heads": [0, 1], "limit": 0.5, "among": [2, 5]}
SHOWN |= {"address": "http://127.0.0.1:8501/?view=head", "asked": "{}"}
BESIDE = {"type": "beside", "stack": "encoder.self", "layer": 1, "head": 2, "model2": "", "asked": "{}"}


def test_a_field_may_be_of_one_of_several_kinds() -> None:
    for limit in (0.5, 5):
        assert acts_of_message(said({**SHOWN, "limit": limit}), ACTS) == [{**SHOWN, "limit": limit}]
    for limit in ("5", None, True):
        with pytest.raises(ValueError, match="limit is of another kind"):
            acts_of_message(said({**SHOWN, "limit": limit}), ACTS)


def test_acts_are_taken_as_they_are_declared() -> None:
    assert acts_of_message(said(BESIDE, SHOWN), ACTS) == [BESIDE, SHOWN]
    one = {"type": "models", "asked": "a"}
    assert acts_of_message(json.dumps({"event": "act", "value": one}), ACTS) == [one]


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
        '[{"event": "other", "value": {"type": "models", "asked": ""}}]',
        said([1]),
        said({}),
        said({"type": ["text"]}),
        said({"type": "edit", "text": "a"}),
        said({"type": "picture"}),
        said({"type": "models", "asked": 7}),
        said({"type": "models"}),
        said({"type": "models", "asked": None}),
        said({"type": "models", "asked": "a", "more": {"deep": [1]}}),
        said({**BESIDE, "layer": True}),
        said({**BESIDE, "layer": 1.5}),
        said({**BESIDE, "layer": None}),
        said({name: value for name, value in BESIDE.items() if name != "head"}),
        said({**SHOWN, "heads": [[0]]}),
        said({**SHOWN, "heads": [True]}),
        said({**SHOWN, "heads": {"0": 0}}),
        said({**SHOWN, "step": None}),
        said(*[{"type": "models", "asked": ""}] * (MOST_ACTS + 1)),
        said({"type": "models", "asked": "a" * MOST_CHARACTERS}),
    ],
)
def test_whatever_else_is_refused(raw: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        acts_of_message(raw, ACTS)


def test_half_a_character_is_replaced_since_nobody_can_write_it() -> None:
    raw = '[{"event": "act", "value": {"type": "models", "asked": "a\\ud83d"}}]'
    assert acts_of_message(raw, ACTS) == [{"type": "models", "asked": "a\ufffd"}]
