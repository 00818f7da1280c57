"""The curves of a run: its records on a fixed number of points, so that a chart keeps its shape."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from models.runs.results import changed_words, history_of
from pages.shared.training import scores
from pages.shared.training.history import MOST_STEPS
from viz_core.boards import Colour, Curves, Line

POINTS = 200
LARGEST = 1e30  # the largest number that is drawn, of either sign
Entry = dict[str, Any]
Read = Callable[[Entry], Any]


def grid(steps: int, *, log: bool = False) -> np.ndarray:
    """The steps [point] at which a chart of a run of so many steps has its points."""
    last = min(max(2, steps), MOST_STEPS)
    return np.geomspace(1, last, POINTS) if log else np.linspace(0, last, POINTS)


def series(entries: Sequence[Entry], read: Read, x: np.ndarray) -> np.ndarray:
    """What `read` finds in the records, on the points x [point].

    It is a mean where records are dense, a straight line where they are not, NaN before the first and after
    the last.
    """
    found = [(entry["step"], value) for entry in entries if is_number(value := read(entry))]
    if not found:
        return np.full(len(x), np.nan)
    steps, values = np.array(found, dtype=np.float64).T
    bins = np.searchsorted((x[1:] + x[:-1]) / 2, steps)
    counts = np.bincount(bins, minlength=len(x))
    some = counts > 0
    sums = [np.bincount(bins, weights=each, minlength=len(x))[some] for each in (steps, values)]
    at, means = (each / counts[some] for each in sums)
    inside = (x >= x[bins.min()]) & (x <= x[bins.max()])
    return np.where(inside, np.interp(x, at, means), np.nan)


def is_number(value: object) -> bool:
    """Whether a record's entry is a number that can be drawn."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST < value < LARGEST


def of(name: str) -> Read:
    """Reads an entry of a record by its name."""
    return lambda entry: entry.get(name)


def validated(name: str) -> Read:
    """Reads a score or loss of the validations."""

    def read(entry: Entry) -> Any:
        found = entry.get("validation")
        return found.get(name) if isinstance(found, dict) else None

    return read


def scores_of(entries: Sequence[Entry]) -> list[str]:
    """The names of the validated scores, the main one first."""
    for entry in entries:
        found = entry.get("validation")
        if isinstance(found, dict) and found:
            return [name for name in found if name != "loss"]
    return []


def last(entries: Sequence[Entry], read: Read) -> float | None:
    """The latest number that `read` finds."""
    return next((float(v) for entry in reversed(entries) if is_number(v := read(entry))), None)


def loss_curves(entries: Sequence[Entry], x: np.ndarray, **more: Any) -> Curves:
    """Training and held-out loss."""
    return Curves(
        title="loss",
        x=x,
        lines=[
            Line(y=series(entries, of("loss"), x), name="training", colour="muted"),
            Line(y=series(entries, validated("loss"), x), name="held out", colour="accent"),
        ],
        x_label="step",
        **more,
    )


def score_curves(entries: Sequence[Entry], x: np.ndarray, **more: Any) -> Curves:
    """All held-out scores, of which a record has one or a few; shares are drawn from 0 to 1."""
    names = scores_of(entries)[:4]
    colours: list[Colour] = ["value", "query", "key", "muted"]
    lines = [
        Line(y=series(entries, validated(name), x), name=name, colour=colour)
        for name, colour in zip(names, colours, strict=False)
    ]
    title = names[0] if len(names) == 1 else "scores"
    blank = Line(y=np.full(len(x), np.nan), name="score", colour="value")
    y_range = (0, 1) if all(map(scores.is_share, names)) else None
    return Curves(
        title=f"{title}, held out", x=x, lines=lines or [blank], x_label="step", y_range=y_range, **more
    )


def marks_of(described: Mapping[str, Any]) -> list[tuple[float, str]]:
    """The steps at which a run was trained further with other settings, each with what changed."""
    return [(float(entry["step"]), changed_words(entry)) for entry in history_of(described)]


def rate_curve(entries: Sequence[Entry], x: np.ndarray, peak: object = None, **more: Any) -> Curves:
    """The learning rate, drawn up to its `peak` where that is a number."""
    line = Line(y=series(entries, of("learning_rate"), x), name="learning rate", colour="key")
    y_range = (0, peak) if isinstance(peak, int | float) and 0 < peak < math.inf else None
    return Curves(title="learning rate", x=x, lines=[line], x_label="step", y_range=y_range, **more)
