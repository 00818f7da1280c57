"""What the tasks reach with the settings that the page begins with, and how long that takes.

    python -m benchmarks.tasks [--threads 0] [name ...]

Each is trained once, then scored on 2,000 held-out examples. Time is that of the steps alone.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass

from attention_lab.models.data.tasks import generator_of, make_task
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training
from benchmarks.setting import print_table

HELD_OUT, TOGETHER = 2_000, 200


@dataclass(frozen=True)
class Aim:
    """A task, one of its scores, what that is to reach, and in how many seconds at most (None: any)."""

    task: str
    score: str
    least: float
    seconds: float | None = None


AIMS = (
    Aim("reverse", "exact match", 1.0, 60),
    Aim("induction", "second half", 0.99),
    Aim("sentiment", "accuracy", 0.98),
    Aim("sentiment", "accuracy, negated", 0.98),
    Aim("digits-classifier", "accuracy", 0.96),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    known = list(dict.fromkeys(aim.task for aim in AIMS))
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(known)}; default: all")
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    options = parser.parse_args()
    rows = []
    for name in options.names or known:
        aims = [aim for aim in AIMS if aim.task == name]
        scores, seconds, steps = trained(aims[0], options.threads)
        rows += [row(aim, scores, seconds, steps) for aim in aims]
    columns = ["task", "score, held out", "reached", "steps", "seconds"]
    threads = f"{options.threads} threads" if options.threads else f"all {os.cpu_count()} cores"
    print_table(f"Tasks with the page's own settings, {threads}", columns, rows)


def trained(aim: Aim, threads: int) -> tuple[dict[str, float], float, int]:
    """Held-out scores, seconds of training, steps."""
    run = run_config(make_task(aim.task), training={"threads": threads, "device": "cpu"})
    training = Training(run)
    for _ in training:
        pass
    totals: dict[str, float] = {}
    for at in range(HELD_OUT // TOGETHER):
        batch = run.task.batch(generator_of(99, at), TOGETHER, held_out=True)
        for name, value in run.task.score(training.model, batch).items():
            totals[name] = totals.get(name, 0.0) + value * TOGETHER / HELD_OUT
    return totals, training.seconds, training.step


def row(aim: Aim, scores: dict[str, float], seconds: float, steps: int) -> list[object]:
    reached = scores[aim.score]
    within = _verdict(seconds, aim.seconds, lambda value, limit: value <= limit, "≤ {:g} s")
    target = _verdict(reached, aim.least, lambda value, limit: value >= limit - 1e-9, "≥ {:.0%}")
    return [aim.task, aim.score, f"{reached:.2%} {target}", f"{steps:,}", f"{seconds:.0f} {within}"]


def _verdict(value: float, limit: float | None, holds: Callable[[float, float], bool], rule: str) -> str:
    return "" if limit is None else f"({rule.format(limit)}: {'yes' if holds(value, limit) else 'NO'})"


if __name__ == "__main__":
    main()
