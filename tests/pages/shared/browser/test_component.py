"""What components may ask for: every act of theirs, and nothing that JSON can say beside."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pages.explore.stage.component import ACTS, VIEW
from pages.shared.browser import component
from pages.shared.browser.component import MOST_ACTS, MOST_CHARACTERS, acts_of_message


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "lab"


def write(folder: Path, **files: str) -> None:
    folder.mkdir()
    for name, code in files.items():
        (folder / f"{name}.js").write_text(code)


def test_what_a_module_imports_stands_before_it_once_and_keeps_its_own_names(folder):
    write(
        folder,
        top='import { shared } from "./deep.js";\nimport {\n  one,\n  two,\n} from "./side.js";\n\n'
        "const own = 1;\nexport const top = () => shared + one + two + own;\n",
        side='import { shared } from "./deep.js";\nconst own = 2;\nexport const one = own;\n'
        "export async function two() {}\n",
        deep="export class shared {}\n",
    )
    code = component.assembled_script([folder / "top.js"])
    assert re.findall(r"^const module_lab_\w+", code, re.M) == [
        "const module_lab_deep", "const module_lab_side", "const module_lab_top",
    ]  # fmt: skip
    assert "const { shared } = module_lab_deep;" in code
    assert "const {\n  one,\n  two,\n} = module_lab_side;" in code
    assert "return { one, two };" in code
    assert not re.search(r"^(import|export)", code, re.M)


def test_modules_that_need_each_other_are_refused_with_the_way_round(folder):
    write(
        folder,
        a='import { b } from "./b.js";\nexport const a = 1;\n',
        b='import { a } from "./a.js";\nexport const b = 1;\n',
    )
    with pytest.raises(ValueError, match=r"in a circle: a\.js -> b\.js -> a\.js; move what both need"):
        component.assembled_script([folder / "a.js"])


@pytest.mark.parametrize("line", ['import a from "./a.js";', "export default 1;", "export let x = 1;"])
def test_another_way_to_import_or_export_is_refused(folder, line):
    write(folder, a="", b=line + "\n")
    with pytest.raises(ValueError, match=r"b\.js: .* is not understood"):
        component.assembled_script([folder / "b.js"])


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
SHOWN["among"] = [2, 5]


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
