import json

import numpy as np

from pages.runs import compare, listing
from pages.shared.training import runs
from tests.pages.shared.training.conftest import MakeRun
from viz_core.boards import Curves


def rows_of(message: bytes) -> dict[str, dict]:
    return {row["id"]: row for row in json.loads(message)["rows"]}


def test_runs_lie_over_each_other_under_their_names(make_run: MakeRun) -> None:
    runs = [make_run(name="narrow"), make_run(name="wide")]
    (runs[1].folder.path / "metrics.jsonl").write_text(
        '{"step": 50, "loss": 1, "validation": {"loss": 0.001}}\n'
    )
    board = compare.board_of(runs)
    loss, _, training = board.rows[0]
    assert isinstance(loss, Curves)
    assert [line.name for line in loss.lines] == ["narrow", "wide"]
    assert loss.title == "loss, held out" and training.title == "loss, training"
    assert np.nanmin(loss.lines[0].y) == 0.02 and np.nanmin(loss.lines[1].y) == 0.001
    assert board.notice == "**wide** has the lowest held-out loss of them, 0.0010."


def test_scores_of_different_tasks_keep_their_names(make_run: MakeRun) -> None:
    runs = [make_run(name="a"), make_run(name="b")]
    line = {"step": 5, "validation": {"loss": 1.0, "accuracy": 0.5}}
    (runs[1].folder.path / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    score = compare.board_of(runs).rows[0][1]
    assert [line.name for line in score.lines] == ["a: second half", "b: accuracy"]


def test_only_settings_that_differ_are_told_and_the_odd_ones_out_are_marked(make_run: MakeRun) -> None:
    runs = [make_run(), make_run(), make_run(learning_rate=0.01)]
    rows = rows_of(compare.differences(runs))
    assert list(rows) == ["learning_rate"]
    assert rows["learning_rate"]["cells"] == ["learning_rate", "0.003", "0.003", "0.01"]
    assert rows["learning_rate"]["marks"] == [3]
    [same] = rows_of(compare.differences(runs[:2])).values()
    assert same["cells"][0] == "all settings are the same"


def test_options_of_tasks_are_compared_too(make_run: MakeRun) -> None:
    rows = rows_of(compare.differences([make_run(), make_run("sort")]))
    assert rows["task"]["cells"] == ["task", "induction", "sort"]
    assert rows["letters"]["cells"] == ["letters", "48", "–"]


def test_a_row_of_the_list_says_how_a_run_stands(make_run: MakeRun) -> None:
    run = make_run(name="<b>mine</b>")
    row = listing._row(run, [run.id])
    assert row.cells[:2] == ["<b>mine</b>", "induction"]
    assert row.cells[2] == "stopped"  # no process has worked there
    assert row.cells[4:6] == ["0.0200", "second half 100.0 %"]
    assert row.chosen and row.opened
    damaged = make_run()
    (damaged.folder.path / "config.json").write_text("{")
    assert listing._row(damaged, [run.id]).cells[0] == damaged.id


def test_two_runs_with_models_have_a_link_to_their_heads(make_run: MakeRun) -> None:
    shipped = [runs.find(f"zoo_{name}") for name in ("induction", "grokking")]
    link = compare.heads_link([run for run in shipped if run])
    assert link["model"] == "induction" and link["model2"] == "grokking" and link["differs"] == "model"
    assert compare.heads_link([run for run in shipped if run] * 2) == {}
    assert compare.heads_link([make_run("sort"), make_run("sort")]) == {}
