"""Scores of a run, as pages write them."""

from models.runs.results import is_share
from models.runs.significance import Summary
from models.runs.verdicts import mean_words


def worded(name: str, value: float, *, n: int | None = None) -> str:
    """A score in words: a share in per cent, another number with its digits; neither is rounded to nothing,
    nor to all. n: the examples that a share of 0 or 1 is of, where it is one of examples.
    """
    if not is_share(name):
        return number(value)
    if n is not None and value in (0, 1):
        return f"{round(value * n):,} of {n:,}"
    per_cent = 100 * value
    if 0 < per_cent < 0.05:
        return f"{per_cent:.2g} %"
    return f"{per_cent:.4g} %" if 99.95 <= per_cent < 100 else f"{per_cent:.1f} %"


def number(value: float) -> str:
    """A number that is no share, with three digits after the point, or so many that it is not nothing."""
    if value and abs(value) < 0.001:
        return f"{value:.2e}"
    return f"{value:,.1f}" if abs(value) >= 1_000 else f"{value:.3f}"


def worded_mean(name: str, found: Summary) -> str:
    """A mean over seeds with its name, ± the standard deviation where there is one: accuracy 91.2 ± 1.0 %."""
    times, unit = (100, " %") if is_share(name) else (1, "")
    return f"{name} {mean_words(found, times)}{unit}"
