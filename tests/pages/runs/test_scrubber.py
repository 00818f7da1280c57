import json

import numpy as np
import pytest

from attention_lab.pages.runs import scrubber
from attention_lab.pages.shared.board.message import message
from attention_lab.pages.shared.training.curves import View
from attention_lab.viz_core import head_scores
from attention_lab.viz_core.boards import Board, Curves, Matrix
from attention_lab.viz_core.viewer.message import MAX_BYTES
from tests.pages.shared.training.conftest import STEPS, TOKENS, MakeRun, patterns


@pytest.fixture
def board(make_run: MakeRun) -> Board:
    return scrubber.scrubbed(make_run())


def test_one_slider_moves_heads_and_marks_over_the_snapshots(board: Board) -> None:
    assert board.scrub is not None
    np.testing.assert_array_equal(board.scrub.values, STEPS)
    assert board.scrub.words[-1] == "100"
    loss, induction, large = board.rows[0]
    assert isinstance(loss, Curves) and isinstance(induction, Curves) and isinstance(large, Matrix)
    for curves in (loss, induction):
        np.testing.assert_array_equal(curves.at, [1, 1, 10, 100])
    heads = [panel for row in board.rows[1:-1] for panel in row]
    assert [panel.values.shape for panel in heads] == [(4, 8, 8)] * 4
    assert large.title == "L1 H1"  # the only head that changes


def test_the_notice_tells_each_step_s_loss_and_score(board: Board) -> None:
    assert board.notice[0].startswith("**Step 0:** random weights.\n")
    assert board.notice[2].startswith("**Step 10:** training loss 0.100, second half 10.0 %.\n")
    assert board.notice[3].startswith("**Step 100:** training loss 0.010, second half 100.0 %.\n")


def test_induction_scores_are_those_of_the_patterns(board: Board) -> None:
    curves = board.rows[0][1]
    assert isinstance(curves, Curves)
    assert [line.name for line in curves.lines] == ["L0 H0", "L0 H1", "L1 H0", "L1 H1"]
    pattern = patterns(100)["decoder.1.self.pattern"].astype(np.float32)
    expected = head_scores(pattern, tokens=TOKENS)["induction"]
    np.testing.assert_allclose([line.y[-1] for line in curves.lines[2:]], expected, atol=1e-6)
    assert expected[1] == pytest.approx(1.0, abs=1e-3) and expected[0] < 0.3


def test_other_tasks_show_their_score_instead(make_run: MakeRun) -> None:
    older = scrubber.scrubbed(make_run("reverse"))  # a run from before norms of parts were recorded
    assert "gradient norm of each part" not in [panel.title for panel in older.rows[-1]]
    run = make_run("reverse")
    metrics = run.folder.path / "metrics.jsonl"
    *lines, last = metrics.read_text().splitlines()
    last = json.dumps(json.loads(last) | {"norms": {"embedding": [0.5, 2.0]}})
    metrics.write_text("\n".join([*lines, last, ""]))
    board = scrubber.scrubbed(run)
    assert [panel.title for panel in board.rows[0]] == ["loss", "second half, held out", "L1 H1"]
    assert [panel.title for panel in board.rows[-1]] == [
        "entropy of every head",
        "gradient norm",
        "gradient norm of each part",
        "learning rate",
        "tokens / s",
    ]


def test_a_chosen_measure_of_every_head_is_that_of_the_patterns(make_run: MakeRun) -> None:
    board = scrubber.scrubbed(make_run("reverse"), View(measure="previous", x="seconds"))
    found = board.rows[-1][0]
    assert (
        isinstance(found, Curves)
        and found.title == "previous token of every head"
        and found.x_label == "step"
    )
    last = patterns(100)["decoder.1.self.pattern"].astype(np.float64)
    expected = [np.mean([head[q, q - 1] for q in range(1, len(TOKENS))]) for head in last]
    np.testing.assert_allclose([line.y[-1] for line in found.lines[2:]], expected, rtol=1e-3)


def test_a_run_without_snapshots_has_curves_and_no_slider(make_run: MakeRun) -> None:
    run = make_run()
    for path in (run.folder.path / "snapshots").iterdir():
        path.unlink()
    board = scrubber.scrubbed(run)
    assert board.scrub is None
    assert [type(panel) for panel in board.rows[0]] == [Curves, Curves]


def test_many_large_heads_still_fit_a_message(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = np.full((12, 64, 64), 1 / 64, np.float16)
    frame = {f"encoder.{layer}.self.pattern": pattern for layer in range(12)}
    run = make_run()
    monkeypatch.setattr(type(run.folder), "snapshots", lambda folder: list(range(40)))
    monkeypatch.setattr("attention_lab.pages.shared.training.heads.patterns_at", lambda run, step: frame)
    entries = run.records()
    board = scrubber.board_of(run, entries, steps=100, see="")
    assert board.scrub is not None
    steps = board.scrub.values
    assert 2 <= len(steps) < 40 and (steps[0], steps[-1]) == (0, 39)
    assert len(message(board, part="x", link={}, at=0.0)) < MAX_BYTES + 200_000


def test_the_same_board_gives_the_same_bytes(make_run: MakeRun) -> None:
    run = make_run()
    first, again = (message(scrubber.scrubbed(run), part=run.id, link={}, at=1.0) for _ in range(2))
    assert first == again
    assert message(scrubber.scrubbed(run), part=run.id, link={}, at=10.0) != first
