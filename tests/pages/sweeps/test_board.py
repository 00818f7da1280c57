"""The figures and the table of a sweep say what its trials did."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from attention_lab.models.runs.folder import Status, write_status
from attention_lab.models.sweeps import control
from attention_lab.models.sweeps import sweep as sweep_module
from attention_lab.models.zoo.families import FAMILIES
from attention_lab.pages.sweeps import open_sweep, page, state
from attention_lab.viz_core.boards import Bars, Points
from tests.pages.sweeps.conftest import MakeSweep


def drawn(sweep):
    return open_sweep.board_of(sweep.spec, sweep.trials(), sweep.importance())


def test_every_trial_is_a_point_and_the_best_is_said(make_sweep: MakeSweep) -> None:
    sweep = make_sweep()
    shown = drawn(sweep)
    (panels,) = shown.rows
    assert shown.notice == (
        "**Best: trial 4**, with Heads 4, Norm pre: exact match 0.505 ± 0.00707 (n = 2), as 1 more has."
    )
    history, importance = panels
    assert isinstance(history, Points) and isinstance(importance, Bars)
    np.testing.assert_allclose(history.dots[0].y, [0.005, 0.005, 0.255, 0.255, 0.505, 0.505])
    assert importance.labels[0] == "Heads"


def test_a_sweep_that_has_not_begun_and_one_that_failed_say_so(make_sweep: MakeSweep) -> None:
    waiting = drawn(make_sweep(waiting=6))
    assert waiting.rows == [[]] and waiting.notice == "No trial has finished yet."
    failed = drawn(make_sweep(name="failed", fails=1))
    assert failed.notice.startswith("**All 6 trials have failed.** <b>the loss is not a number</b>")
    assert failed.rows == [[]]


def test_the_list_says_how_a_sweep_stands(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(fails=3)
    row = page.row_of(sweep, "heads")
    assert row.cells[:6] == ["heads", "reverse", "n_heads, norm", "stopped", "6 of 6", "exact match 0.505"]
    assert row.opened
    (sweep.path / "sweep.json").write_text(json.dumps({"version": 1}))
    assert page.row_of(sweep, "").cells[2].startswith("damaged: ")


@pytest.mark.parametrize("name", ["nothing", "../heads", "", "+", "a" * 500, "heads/"])
def test_what_is_no_sweep_is_not_found(make_sweep: MakeSweep, name: str) -> None:
    make_sweep()
    assert state.find_sweep(name) is None
    assert state.find_sweep("heads") is not None


def test_the_lines_of_the_take_away_run(make_sweep: MakeSweep, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = make_sweep()
    exec(open_sweep.code_of(sweep), {})
    printed = capsys.readouterr().out
    assert "4 {'n_heads': 4, 'norm': 'pre'} finished 0.505" in printed and "'n_heads': " in printed


def test_a_shipped_sweep_is_everybodys_and_nobodys(
    make_sweep: MakeSweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (sweep_module, control):
        monkeypatch.setattr(module, "SHIPPED", tmp_path / "shipped")
    shipped = tmp_path / "shipped" / "answered"
    shutil.copytree(make_sweep().path, shipped)
    write_status(shipped, Status(state="finished", sentence="Four heads are enough."))
    assert [sweep.name for sweep in state.all_sweeps()] == ["heads", "answered", *FAMILIES]
    sweep = state.find_sweep("answered")
    assert sweep is not None and page.row_of(sweep, "").cells[3] == "shipped"
    assert sweep.status().sentence == "Four heads are enough."
    assert drawn(sweep).notice == drawn(make_sweep(name="again")).notice
    exec(open_sweep.code_of(sweep), {})
    assert "4 {'n_heads': 4, 'norm': 'pre'} finished 0.505" in capsys.readouterr().out


def test_a_family_is_listed_with_all_its_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = state.find_sweep("translator-sizes")
    assert sweep is not None
    row = page.row_of(sweep, "")
    assert [row.cells[at] for at in (1, 3, 4, 5)] == ["translation", "shipped", "25 of 25", "perplexity 1.02"]
    shown: list[dict] = []
    monkeypatch.setattr(open_sweep, "message", lambda *parts: parts)
    monkeypatch.setattr(open_sweep.table, "show", lambda parts, **given: shown.append(parts))
    open_sweep.table_of(sweep.spec, sweep.trials())
    ((_, columns, rows),) = shown
    assert columns[11:16] == (
        "#perplexity", "#chrF", "#whole sentences", "#pronouns", "#weight of the noun",
    )  # fmt: skip
    best = dict(zip(columns, rows[0].cells, strict=True))
    assert (best["d_model"], best["#runs"]) == ("128", "3")
    assert drawn(sweep).notice == "**Best: trial 10**, with d_model 128: perplexity 1.02 ± 0.00186 (n = 3)."


def test_of_one_setting_there_is_no_importance_to_tell(make_sweep: MakeSweep) -> None:
    (panels,) = drawn(make_sweep("n_heads=1,2,4")).rows
    assert not any(isinstance(panel, Bars) for panel in panels)
