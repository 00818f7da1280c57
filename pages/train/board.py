"""What is watched while a run trains: numbers, curves, all heads on the probe, pictures."""

from collections.abc import Sequence
from typing import Any

from models.byte_units import readable
from pages.shared.training import curves, figures, heads, runs, scores
from pages.shared.training.runs import Run
from viz_core.boards import Board, Fact, Facts, Panel


def board_of(
    run: Run, entries: Sequence[dict[str, Any]], *, steps: int, notice: str, live: bool = False
) -> Board:
    """The board of a run after these records. Its shape stays the same while the run goes on: a `live` board
    has empty heads until the first snapshot.
    """
    x = curves.grid(steps)
    steps_kept = run.folder.snapshots()
    rows, shown = figures.head_rows(run, steps_kept[-1:])
    if live and not rows:
        rows = figures.awaited_rows(run)
    described = runs.described(run)
    marks = curves.marks_of(described)
    top: list[Panel] = [
        curves.loss_curves(entries, x, marks=marks),
        curves.score_curves(entries, x, marks=marks),
        curves.rate_curve(entries, x, described["training"].get("learning_rate"), marks=marks),
    ]
    large = heads.large(rows, "")
    if large is not None:
        top.append(large)
    pictured = run.folder.picture_steps()
    made = figures.pictures(run, pictured[-1]) if pictured else []
    return Board(rows=[[numbers(entries, shown)], top, *rows, *made], notice=notice)


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
        facts.append(
            Fact(label=label, values="–" if value is None else format(value, forms.get(label, ".4f")))
        )
    for name in curves.scores_of(entries)[:1] or ["score"]:
        value = curves.last(entries, curves.validated(name))
        said = "–" if value is None else scores.worded(name, value)
        facts.append(Fact(label="score, held out", values=said))
    memory = curves.last(entries, curves.of("memory"))
    facts.append(Fact(label="memory", values="–" if memory is None else readable(round(memory))))
    facts.append(Fact(label="heads of step", values=f"{shown[-1]:,}" if shown else "–"))
    return Facts(facts=facts)
