"""What is watched while a run trains: numbers, curves, all heads on the probe, pictures."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from models.byte_units import readable
from models.runs.best import tracked
from pages.shared.training import curves, figures, heads, runs, scores
from pages.shared.training.curves import STEPS, View
from pages.shared.training.head_curves import USUAL, head_curves
from pages.shared.training.runs import Run
from viz_core.boards import Board, Curves, Fact, Facts, Line, Panel


def board_of(
    run: Run,
    entries: Sequence[dict[str, Any]],
    *,
    steps: int,
    notice: str,
    live: bool = False,
    view: View = STEPS,
) -> Board:
    """The board of a run after these records. Its shape stays the same while the run goes on: a `live` board
    has empty heads until the first snapshot.
    """
    view = view.known_in(entries)
    x = curves.axis(entries, steps, view)
    steps_kept = run.folder.snapshots()
    rows, shown = figures.head_rows(run, steps_kept[-1:])
    if live and not rows:
        rows = figures.awaited_rows(run)
    described = runs.described(run)
    how, marks = described["training"], curves.marks_of(described, entries, view)
    top: list[Panel] = [
        curves.loss_curves(entries, x, view, marks=marks),
        curves.score_curves(entries, x, view, marks=marks),
        curves.gradient_curve(entries, x, how.get("clip"), view, marks=marks),
    ]
    large = heads.large(rows, "")
    if large is not None:
        top.append(large)
    pictured = run.folder.picture_steps()
    made = figures.pictures(run, pictured[-1]) if pictured else []
    more = [
        curves.rate_curve(entries, x, how.get("learning_rate"), view),
        *([curves.part_curves(entries, x, view)] if live or curves.has_norms(entries) else []),
        _heads(run, entries, x, view),
        curves.speed_curve(entries, x, view),
    ]
    return Board(rows=[[numbers(entries, shown)], top, *rows, more, *made], notice=notice)


def _heads(run: Run, entries: Sequence[dict[str, Any]], x: np.ndarray, view: View) -> Curves:
    """The measure of every head, which is empty until there are two snapshots."""
    induced = runs.described(run)["task"].get("name") == "induction"
    found = head_curves(run, entries, x, view, "induction" if induced else USUAL)
    blank = Line(y=np.full(len(x), np.nan), name="head")
    return found or curves.chart("a measure of every head", [blank], x, view)


def numbers(entries: Sequence[dict[str, Any]], shown: Sequence[int]) -> Facts:
    """The latest numbers as texts; each keeps its place."""
    read = {
        "step": curves.of("step"),
        "loss": curves.of("loss"),
        "loss, held out": curves.validated("loss"),
        "gradient norm": curves.of("gradient_norm"),
        "learning rate": curves.of("learning_rate"),
        "tokens / s": curves.of("tokens_per_second"),
    }
    forms = {"step": ",.0f", "tokens / s": ",.0f", "learning rate": ".2e", "gradient norm": ".2f"}
    facts = []
    for label, reader in read.items():
        value = curves.last(entries, reader)
        said = "–" if value is None else _said(value, forms.get(label, ".4f"))
        facts.append(Fact(label=label, values=said))
    for name in curves.scores_of(entries)[:1] or ["score"]:
        value = curves.last(entries, curves.validated(name))
        said = "–" if value is None else scores.worded(name, value)
        facts.append(Fact(label="score, held out", values=said))
    best = tracked(entries, {}, {}).best
    said = f"{scores.worded(best.score, best.value)} at step {best.step:,}" if best else "–"
    facts.append(Fact(label="best, held out", values=said))
    memory = curves.last(entries, curves.of("memory"))
    facts.append(Fact(label="memory", values="–" if memory is None else readable(round(memory))))
    facts.append(Fact(label="heads of step", values=f"{shown[-1]:,}" if shown else "–"))
    return Facts(facts=facts)


def _said(value: float, form: str) -> str:
    """A number in a form, none of which writes a small one as nothing, nor nothing as a power of ten."""
    if value == 0:
        return "0"
    return format(value, ".2e" if form == ".4f" and abs(value) < 1e-3 else form)
