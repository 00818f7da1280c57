"""The sheets that ship: each rule fails where its task opens, and holds at a solution."""

import json
import subprocess
import time
from urllib.parse import quote

import pytest
import torch

from attention_lab.models.interventions.edit import read_edits
from attention_lab.pages.lab.softmax.spread import spread
from attention_lab.pages.sheets import store
from attention_lab.pages.sheets.sheet import Given, Sheet
from attention_lab.pages.talks.talks import ADDRESSES, SHEET_NAMES, SHEETS
from tools.javascript import NODE, ROOT, install

READ = """
  await import("{root}/viz_core/viewer/vendored/markdown-it.js");
  const {{ read }} = await import("{root}/viz_core/viewer/talk/format.js");
  console.log(JSON.stringify({texts}.map((text) => read(text, {pages}))));
"""
ZERO = "encoder.1.self heads 0,1,2,3: zero"
SOLUTIONS = {
    "find-the-head": {0: "?layer=0&head=3", 2: "?stack=decoder.cross&head=2", 3: "?model=induction&head=1"},
    "pronoun": {
        1: "?text=the+animal+did+not+cross+the+street+because+it+was+too+narrow",
        2: "?text=the+dog+did+not+eat+the+apple+because+it+was+too+bitter",
        4: f"?edits={ZERO}",
    },
    "softmax-scale": {
        1: "softmax?part=dots&d_k=256", 2: "softmax?part=spread&deviation=6.3",
        4: "softmax?part=head&temperature=20",
    },
}  # fmt: skip


def read(*texts: str) -> list[Sheet]:
    """As the browser reads them, which finds nothing wrong."""
    install()
    program = READ.format(root=ROOT, texts=json.dumps(texts), pages=json.dumps([*ADDRESSES]))
    command = [str(NODE / "bin" / "node"), "--input-type=module", "-e", program]
    readings = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert [reading["problems"] for reading in readings] == [[]] * len(texts)
    return [Sheet.model_validate(each["talk"]) for each in readings]


@pytest.fixture(scope="module")
def sheets() -> dict[str, Sheet]:
    return dict(zip(SHEET_NAMES, read(*SHEETS["en"].values()), strict=True))


def test_the_example_of_the_documents_opens() -> None:
    _, _, rest = (ROOT / "docs" / "classes.md").read_text("utf-8").partition("```markdown\n")
    (sheet,) = read(rest.partition("```")[0])
    opened = store.open_class("anna", store.Opened(sheet=sheet, ends=time.time() + store.DAY_SECONDS))
    assert opened.keys() == {"code", "secret"}, opened
    for link, is_right in (("?layer=1&head=0", True), ("?layer=1&head=0&text=it+animal", False)):
        assert sheet.judge(sheet.task(0), Given(link=link)).right is is_right
    edited = "?head=0&layer=0&edits=" + quote("encoder.0.self heads 0: zero")
    assert not sheet.judge(sheet.task(0), Given(link=edited)).right


def test_a_painted_weight_finds_no_head(sheets: dict[str, Sheet]) -> None:
    for edits, right in (("", True), ("encoder.0.self heads 0: zero", False)):
        given = Given(link=f"?layer=0&head=3&edits={quote(edits)}")
        assert sheets["find-the-head"].judge(sheets["find-the-head"].task(0), given).right is right


@pytest.mark.parametrize("name", SHEET_NAMES)
def test_rules_fail_where_a_task_opens_and_hold_at_a_solution(name: str, sheets: dict[str, Sheet]) -> None:
    sheet = sheets[name]
    assert sheet.problems() == []  # rules that hold already are among these
    by_rule = [at for at, task in enumerate(sheet.stops) if task.kind == "link"]
    assert by_rule == list(SOLUTIONS[name])
    for at, link in SOLUTIONS[name].items():
        verdict = sheet.judge(sheet.task(at), Given(link=link))
        assert verdict.right, (at, verdict.sentence)


def test_what_the_sheets_say_is_so(sheets: dict[str, Sheet]) -> None:
    assert len(read_edits(ZERO)) == 1
    spreads = spread(16, seed=0)
    assert torch.equal(spreads.original.largest > 0.9, spreads.deviations >= 5)
    task = sheets["pronoun"].task(4)
    for head in range(4):  # "One head is not enough"
        given = Given(link=f"?edits=encoder.1.self heads {head}: zero")
        assert not sheets["pronoun"].judge(task, given).right
