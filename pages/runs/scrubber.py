"""The board of one run: a slider over its snapshots moves every head and a mark on the curves together."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pages.shared.training import curves, figures, heads, runs, scores, tasks_on_offer
from pages.shared.training.history import history_of
from pages.shared.training.runs import Run
from viz_core import induction_score
from viz_core.boards import Board, Curves, Line, Matrix, Panel, Scrub

INDUCTION = "induction"
MOST_LINES = 16


def scrubbed(run: Run) -> Board:
    """The run's board with its slider."""
    described = runs.described(run)
    name, steps = str(described["task"].get("name", "")), described["training"].get("steps")
    info = tasks_on_offer.tasks().get(name)
    entries = history_of(run.folder.path / "metrics.jsonl").entries()
    count = steps if isinstance(steps, int) else 1
    return board_of(
        run, entries, steps=count, task=name, see=info.look_for(described["task"]["options"]) if info else ""
    )


def board_of(run: Run, entries: Sequence[dict[str, Any]], *, steps: int, task: str, see: str) -> Board:
    """One frame for each snapshot that a message has room for; without any, the curves alone."""
    rows, shown = figures.head_rows(run, run.folder.snapshots())
    x = curves.grid(max(steps, shown[-1] if shown else 0), log=True)
    frames = np.array(shown, dtype=np.float64)
    single = len(shown) < 2
    at = None if single else np.maximum(frames, 1)  # a logarithmic axis has no 0
    more: dict[str, Any] = {"log_x": True, "at": at, "marks": curves.marks_of(runs.described(run))}
    scores = (
        induction_curves(rows, figures.probe_tokens(run), frames, x)
        if task == INDUCTION and not single
        else None
    )
    top: list[Panel] = [curves.loss_curves(entries, x, **more)]
    top.append(scores or curves.score_curves(entries, x, **more))
    large = heads.large(rows, best(scores) if scores else sharpest(rows))
    if large is not None:
        top.append(large)
    made = _pictures(run) if not rows or single else []
    if single:
        return Board(rows=[top, *rows, *made], notice=see)
    notices = [_notice(entries, step, see) for step in shown]
    scrub = Scrub(field="step", label="step", values=frames, words=[f"{step:,}" for step in shown])
    return Board(rows=[top, *rows], notice=notices, scrub=scrub)


def induction_curves(
    rows: Sequence[Sequence[Panel]], tokens: Mapping[str, Sequence[str]], frames: np.ndarray, x: np.ndarray
) -> Curves | None:
    """The induction score of every head at every snapshot; None where the probe repeats nothing."""
    lines = []
    read = next(iter(tokens.values()), [])
    for head, panel in enumerate(_thumbnails(rows)[:MOST_LINES]):
        try:
            scores = induction_score(panel.values.astype(np.float32), read)  # [frame]
        except ValueError:
            return None
        y = np.interp(x, np.maximum(frames, 1), scores, right=np.nan)
        lines.append(Line(y=y, name=panel.title, colour=head, dashed=panel.title.startswith("L0")))
    if not lines:
        return None
    title, at = "induction score of every head", np.maximum(frames, 1)
    return Curves(title=title, x=x, lines=lines, x_label="step", log_x=True, y_range=(0, 1), at=at)


def best(scores: Curves) -> str:
    """The head with the highest score at the last snapshot."""
    last = [line.y[np.isfinite(line.y)][-1] for line in scores.lines]
    return scores.lines[int(np.argmax(last))].name


def sharpest(rows: Sequence[Sequence[Panel]]) -> str:
    """The head that changed most from the first snapshot to the last: the one to look at first."""

    def change(panel: Matrix) -> float:
        values = panel.values.astype(np.float32)
        return float(np.abs(values[-1] - values[0]).mean()) if values.ndim == 3 else 0.0

    return max(_thumbnails(rows), key=change).title if rows else ""


def _thumbnails(rows: Sequence[Sequence[Panel]]) -> list[Matrix]:
    return [panel for row in rows for panel in row if isinstance(panel, Matrix)]


def _notice(entries: Sequence[dict[str, Any]], step: int, see: str) -> str:
    """The step, and the loss and score of the records nearest to it."""
    if step == 0:
        return f"**Step 0:** random weights. {see}"
    past = [entry for entry in entries if entry["step"] <= step]
    said = []
    loss = curves.last(past, curves.of("loss"))
    if loss is not None:
        said.append(f"training loss {loss:.3f}")
    for name in curves.scores_of(past)[:1]:
        value = curves.last(past, curves.validated(name))
        if value is not None:
            said.append(f"{name} {scores.worded(name, value)}")
    numbers = f" {', '.join(said)}." if said else ""
    return f"**Step {step:,}:**{numbers} {see}"


def _pictures(run: Run) -> list[list[Panel]]:
    pictured = run.folder.picture_steps()
    return figures.pictures(run, pictured[-1]) if pictured else []
