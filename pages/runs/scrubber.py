"""The board of one run: a slider over its snapshots moves every head and a mark on the curves together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_lab.models.runs.folder import WATCHED
from attention_lab.pages.shared.training import curves, heads, runs, tasks_on_offer
from attention_lab.pages.shared.training.curves import View
from attention_lab.pages.shared.training.heads import INDUCTION, head_curves, measure_of
from attention_lab.pages.shared.training.runs import Run
from attention_lab.viz_core.boards import Board, Curves, Panel, film_scrub

LOG = View(log_x=True)


def scrubbed(run: Run, view: View = LOG) -> Board:
    """The run's board with its slider, its curves drawn as `view` says."""
    described = runs.described(run)
    steps, info = described["training"].get("steps"), tasks_on_offer.task_of(described)
    count = steps if isinstance(steps, int) else 1
    see = info.look_for(described["task"]["options"]) if info else ""
    return board_of(run, run.records(), steps=count, see=see, view=view)


def board_of(run: Run, entries: Sequence[dict[str, Any]], *, steps: int, see: str, view: View = LOG) -> Board:
    """One frame for each snapshot that a message has room for; without any, the curves alone."""
    rows, frame_steps = heads.head_rows(run, run.folder.snapshots())
    view = view.known_in(entries)
    x = curves.axis(entries, max([steps, *frame_steps[-1:]]), view)
    frames = np.array(frame_steps, dtype=np.float64)
    single = len(frame_steps) < 2
    at = None if single else curves.places(entries, frames, view)
    described = runs.described(run)
    marks = curves.marks_of(described, entries, view)
    more: dict[str, Any] = {"view": view, "at": at, "marks": marks}
    curves_of_heads = None if single else head_curves(run, entries, x, **more)
    induced = curves_of_heads if curves_of_heads and measure_of(run, view) == INDUCTION else None
    score = curves.score_curves(entries, x, **more)
    large = heads.large(rows, heads.at_work(run, frame_steps)[0])
    top: list[Panel] = [curves.loss_curves(entries, x, **more), induced or score, *large]
    numbers = _training(run, entries, x, more, score if induced else curves_of_heads)
    if single:
        return Board(rows=[top, *rows, numbers, *heads.pictures_panel(run)], notice=see)
    first = "as the model was given" if described["task"].get("name") == WATCHED else "random weights"
    notices = [_notice(entries, step, see, first) for step in frame_steps]
    return Board(rows=[top, *rows, numbers], notice=notices, scrub=film_scrub(frame_steps))


def _training(
    run: Run, entries: Sequence[dict[str, Any]], x: np.ndarray, more: dict[str, Any], first: Curves | None
) -> list[Panel]:
    """What the training did besides: gradients, norms, rate, speed; and in front what has no room above."""
    how = runs.described(run)["training"]
    parts = [curves.part_curves(entries, x, **more)] if curves.has_norms(entries) else []
    return [
        *([first] if first else []),
        curves.gradient_curve(entries, x, how.get("clip"), **more),
        *parts,
        curves.rate_curve(entries, x, how.get("learning_rate"), **more),
        curves.speed_curve(entries, x, **more),
    ]


def _notice(entries: Sequence[dict[str, Any]], step: int, see: str, first: str) -> str:
    """The step, and the loss and score of the records nearest to it; first: what step 0 is."""
    if step == 0:
        return f"**Step 0:** {first}.\n{see}"
    past = [entry for entry in entries if entry["step"] <= step]
    sentences = []
    loss = curves.last(past, curves.of("loss"))
    if loss is not None:
        sentences.append(f"training loss {runs.number(loss)}")
    for name in curves.scores_of(past)[:1]:
        value = curves.last(past, curves.validated(name))
        if value is not None:
            sentences.append(f"{name} {runs.worded(name, value)}")
    numbers = f" {', '.join(sentences)}." if sentences else ""
    return f"**Step {step:,}:**{numbers}\n{see}"
