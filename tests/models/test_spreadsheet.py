"""What a spreadsheet reads of the CSV that all parts of the app write: texts, numbers, and no formula."""

import csv
import io
import math
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attention_lab.models import spreadsheet
from attention_lab.models.runs.export import metrics_table
from attention_lab.models.spreadsheet import csv_text
from attention_lab.pages.hall import store as halls
from attention_lab.pages.shared.board import takeaway
from attention_lab.pages.sheets import store as classes
from attention_lab.pages.sheets.sheet import Sheet, Verdict
from attention_lab.viz_core.boards import Bars, Board

FORMULAS = [
    "=1+1",
    '=HYPERLINK("http://x")',
    "+a",
    "-",
    "@sum",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    "＋1",
    "－1",
    "＠x",
]
FORMULAS += ["-2+cmd|' /C calc'!A0", "--1", "+1_0", "-nan", "-1-1", "-1e5e"]  # fmt: skip
WORST = [f"a{between}{formula}" for formula in FORMULAS for between in ("\n", "\r\n", "\r", ";", "\t", ";;")]
WORST += [*FORMULAS, 'a;"=1+1&";b', 'a\n",=1+1', 'a\n","=1', '"=1', '";=1+1;"', 'b,"=1']


def formulas_in(text: str) -> list[str]:
    """The cells that some spreadsheet takes for a formula, be it one that breaks the lines of a cell in
    quotation marks, or one that separates by semicolons or tabs.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    sources = (text.splitlines(keepends=True), *([line] for line in text.split("\n")))
    readings = [csv.reader(source, delimiter=by) for by in ",;\t" for source in sources]
    cells = [cell for reading in readings for row in reading for cell in row]
    return [cell for cell in cells if cell.lstrip("\t\r\n")[:1] in [*"=+-@＝＋－＠"] and not _is_number(cell)]


def _is_number(cell: str) -> bool:
    try:
        return not math.isnan(float(cell))
    except ValueError:
        return False


def test_the_reading_of_this_test_finds_formulas() -> None:
    for text in ('a,"b;=1"\r\n', '"a\n=1"', "'x,+a", "－1"):
        assert formulas_in(text)
    assert not formulas_in('a,"-1.5"\r\n')


@pytest.mark.parametrize("text", WORST)
def test_no_text_is_a_formula(text: str) -> None:
    assert not formulas_in(csv_text([[text, "b"], ["a", text], [1, text, text]]))


@pytest.mark.parametrize(
    "word",
    ["cat", "", "a=b", "-0.5", "+2", "-1e-3", "-inf", "'quoted'", " =1", "−", "a - b", "a, -b", "-1;-2"],
)
def test_other_words_and_numbers_stay_as_they_are(word: str) -> None:
    assert next(csv.reader(io.StringIO(csv_text([[word]]), newline=""))) == [word]


def test_numbers_stay_numbers_and_every_cell_is_quoted() -> None:
    rows = [["a", "b", "c", "d"], [-1, -0.5, np.float32(-0.1), None], [2, math.nan, -math.inf, True]]
    text = csv_text(rows)
    assert text == '"a","b","c","d"\r\n"-1","-0.5","-0.1",""\r\n"2","","-inf","True"\r\n'
    read = pd.read_csv(io.StringIO(text))
    assert read["a"].tolist() == [-1, 2] and read["b"][0] == -0.5 and read["c"].dtype == float


@pytest.mark.parametrize("worst", ["=", "\n", "\n-", ";\t", '"', ';"', "\r\n=", "-1", "1", " ", "1;-"])
def test_a_long_text_takes_no_time(worst: str) -> None:
    text, since = (worst * 100_000)[:100_000], time.perf_counter()
    csv_text([[text, f"-{text}", f"\n{text}x"]])
    assert time.perf_counter() - since < 2


def board_table(text: str) -> str:
    bars = Bars(values=np.array([-0.5, 1.0]), title=text, labels=[text, "b"], x_label="x")
    return takeaway.table(Board(rows=[[bars]], notice=""), 0)


def records(text: str) -> str:
    return metrics_table([{"step": 1, "losses": {text: -1.5}}, {"step": 2, text: text}])


def votes(text: str) -> str:
    asked = {"id": "q", "ask": text, "options": [text, "b"], "uncovered": False, "right": 0}
    opened = halls.open_hall("", halls.Shared.model_validate({"title": text, "asked": asked}))
    return halls.table(opened["code"], opened["secret"])


def answers(text: str) -> str:
    stop = {"title": text, "line": 1, "link": "", "notes": "", "question": None, "settings": {"write": "200"}}
    sheet = Sheet.model_validate({"title": text, "about": "", "settings": {}, "stops": [stop]})
    code, secret = classes.open_class("", classes.Opened(sheet=sheet, ends=time.time() + 60)).values()
    name = re.sub(r"[\x00-\x1f]", "", text)[:40]
    token = classes.join(code, "", classes.Student(name=name))["token"]
    classes.answer(code, token, 0, Verdict(None, "", "", text))
    written = classes.table(code, secret)
    classes.CLASSES.close(code, secret)
    return written


@pytest.mark.parametrize("write", [board_table, records, votes, answers])
def test_no_table_of_the_app_holds_a_formula(
    write: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    for text in WORST[:: 1 if write in (board_table, records) else 7]:
        assert not formulas_in(write(text))


def test_nothing_else_writes_csv() -> None:
    root = Path(spreadsheet.__file__).parents[1]
    sources = [file for folder in ("models", "pages", "viz_core") for file in (root / folder).rglob("*.py")]
    writes = re.compile(r"to_csv|csv\.(?:Dict)?[wW]riter")
    assert [file.name for file in sources if writes.search(file.read_text("utf-8"))] == ["spreadsheet.py"]
