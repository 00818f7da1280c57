"""A run at one step of its training beside all others: the patterns of the text that it watched."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from models.contrast import Aligned
from models.contrast.distance import laid, variation
from pages.beside.seen import Frame, Patterns, Seen
from pages.shared.training import runs

MOST = 8
"""The steps of a run that stand in its strip."""
NOTE = "A run keeps the patterns of the one text that it watched, and no outputs."


def run_of(name: str) -> runs.Run | None:
    """The run that a model comes from, where it is one whose folder is here."""
    _, begins, run_id = name.removesuffix("@best").partition("run:")
    return runs.find(run_id if begins else f"{runs.SHIPPED}{name}")


def steps_of(name: str) -> list[int]:
    """The steps of which the run of a model keeps patterns."""
    run = run_of(name)
    return run.folder.snapshots() if run else []


def nearest(step: str, steps: list[int]) -> int:
    """The step that is meant: the last where none is given, the nearest where a run has not kept it."""
    return min(steps, key=lambda each: abs(each - int(step))) if step else steps[-1]


def seen_at(name: str, step: str, tell: Callable[[float], None]) -> Seen:
    """The patterns at a step beside those at all others. Raises ValueError for a model without steps."""
    run, steps = run_of(name), steps_of(name)
    if run is None or not steps:
        raise ValueError(
            f"{name!r} keeps no steps of its training; choose a run of Runs, or induction, which ships with "
            "its own."
        )
    tokens = run.folder.probe()["tokens"]
    places = {side: Aligned(*2 * (tuple(each),), _identity(len(each))) for side, each in tokens.items()}
    shown = [steps[at] for at in sorted(set(np.linspace(0, len(steps) - 1, MOST).round().astype(int)))]

    def patterns(at: int) -> dict[str, torch.Tensor]:
        found = run.folder.snapshot(at)
        return {where.removesuffix(".pattern"): pattern.float() for where, pattern in found.items()}

    first = patterns(nearest(step, steps))
    frames = []
    for count, at in enumerate(shown):
        tell(count / len(shown))
        both = (first, patterns(at))
        frames.append(Frame(both, places, _moved(both, places), None, NOTE))
    return Seen(tuple(frames), tuple(f"{at:,}" for at in shown))


def _identity(n: int) -> tuple[tuple[int, int], ...]:
    return tuple((at, at) for at in range(n))


def _moved(both: tuple[Patterns, Patterns], places: dict[str, Aligned]) -> dict[str, np.ndarray]:
    found: dict[str, list[np.ndarray]] = {}
    for where in sorted(both[0], key=lambda each: int(each.split(".")[1])):
        side, _, kind = where.split(".")
        queries, keys = places[side], places["encoder" if kind == "cross" else side]
        a, b = (laid(each[where], queries, keys, at) for at, each in enumerate(both))
        found.setdefault(f"{side}.{kind}", []).append(variation(a, b, queries).numpy())
    return {stack: np.stack(rows) for stack, rows in found.items()}
