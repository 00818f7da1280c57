import json

import numpy as np
import pytest

from attention_lab.models.runs.folder import Status, write_status
from attention_lab.pages.runs import compare
from attention_lab.pages.shared.training import runs
from attention_lab.pages.shared.training.runs import Run
from attention_lab.viz_core.boards import Curves
from tests.pages.runs.conftest import rows_in_list
from tests.pages.shared.training.conftest import MakeRun


def rows_of(message: bytes) -> dict[str, dict]:
    return {row["id"]: row for row in json.loads(message)["rows"]}


def finish(*runs: Run) -> None:
    for run in runs:
        write_status(run.folder.path, Status(state="finished", step=100, steps=100))


def test_runs_lie_over_each_other_under_their_names(make_run: MakeRun) -> None:
    runs = [make_run(name="narrow"), make_run(name="wide", clip=2.0)]
    (runs[1].folder.path / "metrics.jsonl").write_text(
        '{"step": 50, "loss": 1, "validation": {"loss": 0.001}}\n'
    )
    finish(*runs)
    board = compare.board_of(runs)
    loss, _, training = board.rows[0]
    assert isinstance(loss, Curves)
    assert [line.name for line in loss.lines] == ["narrow", "wide"]
    assert loss.title == "loss, held out" and training.title == "loss, training"
    assert np.nanmin(loss.lines[0].y) == 0.02 and np.nanmin(loss.lines[1].y) == 0.001
    assert board.notice == "No difference is shown between the two."


def test_seeds_are_one_line_with_a_band_and_a_verdict(make_run: MakeRun) -> None:
    runs = [make_run(name=f"slow seed {seed}", seed=seed) for seed in range(3)]
    runs += [make_run(name=f"fast seed {seed}", seed=seed, learning_rate=0.01) for seed in range(3)]
    for at, run in enumerate(runs):
        score = (0.50, 0.54, 0.47, 0.90, 0.95, 0.88)[at]
        lines = [{"step": step, "validation": {"loss": 1 - score, "second half": score}} for step in (1, 100)]
        (run.folder.path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    finish(*runs)
    board = compare.board_of(runs)
    score = board.rows[0][1]
    assert [line.name for line in score.lines] == ["slow (3 runs)", "fast (3 runs)"]
    last = score.lines[1]
    assert last.y[-1] == pytest.approx(0.91)
    assert last.high is not None and last.low is not None
    assert (last.low[-1], last.high[-1]) == pytest.approx((0.88, 0.95))
    assert board.notice == "“fast (3 runs)” is better than the other."
    found = dict(compare.tables(runs))
    assert list(found) == ["Held-out scores at the end", "Differences, each tested", "Settings that differ"]
    assert json.loads(found["Differences, each tested"])["rows"][0]["cells"][-1] == "yes"
    assert rows_of(found["Settings that differ"])["learning_rate"]["cells"][1:] == ["0.003", "0.01"]


def test_the_list_has_a_row_for_a_group_and_one_for_each_of_its_runs(make_run: MakeRun) -> None:
    runs = [make_run(name="a", seed=0), make_run(name="b", seed=1)]
    finish(*runs)
    runs[0].folder.annotate(tags=["mine"])
    head, *members = rows_in_list(runs, chosen=runs)
    assert head.members == [run.id for run in runs] and head.chosen and head.opened
    assert head.cells[:4] == ["a (and 1 more)", "induction", "2 finished", "100"]
    assert head.cells[4:7] == ["0.02 ± 0", "second half 100 ± 0 %", "2"] and head.cells[-1] == "mine"
    assert [row.cells[0] for row in members] == ["a, seed 0", "b, seed 1"]
    assert {row.group for row in members} == {head.id}


def test_scores_of_different_tasks_keep_their_names(make_run: MakeRun) -> None:
    runs = [make_run(name="a"), make_run(name="b", clip=2.0)]
    line = {"step": 5, "validation": {"loss": 1.0, "accuracy": 0.5}}
    (runs[1].folder.path / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    score = compare.board_of(runs).rows[0][1]
    assert [line.name for line in score.lines] == ["a: second half", "b: accuracy"]


def test_only_settings_that_differ_are_told_and_the_odd_ones_out_are_marked(make_run: MakeRun) -> None:
    runs = [make_run(), make_run(), make_run(learning_rate=0.01)]
    rows = rows_of(compare.differences(runs))
    assert list(rows) == ["learning_rate"]
    assert rows["learning_rate"]["cells"] == ["learning_rate", "0.003", "0.01"]
    assert rows["learning_rate"]["marks"] == [2]
    [same] = rows_of(compare.differences(runs[:2])).values()
    assert same["cells"][0] == "all settings but the seed are the same"


def test_a_row_of_the_list_says_how_a_run_stands(make_run: MakeRun) -> None:
    run = make_run(name="<b>mine</b>")
    [row] = rows_in_list([run], chosen=[run])
    assert row.cells[:2] == ["<b>mine</b>", "induction"]
    assert row.cells[2] == "stopped"  # no process has worked there
    assert row.cells[4:6] == ["0.0200", "second half 100.0 %"]
    assert row.chosen and row.opened
    damaged = make_run()
    (damaged.folder.path / "config.json").write_text("{")
    assert rows_in_list([damaged])[0].cells[0] == damaged.id


def test_two_runs_with_models_have_a_link_to_their_heads(make_run: MakeRun) -> None:
    shipped = [runs.find(f"zoo_{name}") for name in ("induction", "grokking")]
    link = compare.heads_link([run for run in shipped if run])
    assert link["model"] == "induction" and link["model2"] == "grokking" and link["differs"] == "model"
    assert compare.heads_link([run for run in shipped if run] * 2) == {}
    assert compare.heads_link([make_run("reverse"), make_run("reverse")]) == {}
