"""Figures of training: curves without their noise, and of a sweep, which settings make a value good, how it
was found, and where a rate is best.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from ._checks import check_axes, check_length
from .boards import Bars, Dots, Points
from .labels import short


def moving_average(values: Float[np.ndarray, "point"], weight: int | float) -> Float[np.ndarray, "point"]:
    """The exponential moving average of values, corrected for its start as in Adam (Kingma and Ba 2015, 3).

    s(i) = weight s(i-1) + (1 - weight) y(i), from s(0) = 0, divided by 1 - weight^i: a mean of all values so
    far, in which each counts `weight` times as much as the next. Weight 0 changes nothing.
    Raises ValueError for a weight that is not in 0..1, 1 left out.
    """
    if not 0 <= weight < 1:
        raise ValueError(f"weight={weight} is not from 0 to below 1; try 0.9")
    means = np.empty(len(values))
    mean, total = 0.0, 0.0
    for at, value in enumerate(values.tolist()):
        mean, total = weight * mean + (1 - weight) * value, weight * total + (1 - weight)
        means[at] = mean / total
    return means


MOST_POINTS = 5_000
MOST_BARS = 24


def importance_panel(importance: Mapping[str, float]) -> Bars:
    """How much each setting tells the best trials from all, such as `Sweep.importance` gives it: shares that
    sum to 1, the largest first. Raises ValueError for a share that is not within 0 to 1.
    """
    for name, share in importance.items():
        if not 0 <= share <= 1 + 1e-6:
            raise ValueError(
                f"importance of {name!r} is {share:g}, but a share is within 0 to 1; divide by the sum"
            )
    bars = sorted(importance.items(), key=lambda each: -each[1])[:MOST_BARS]
    title = "what tells the best tenth of trials apart"
    if len(importance) > MOST_BARS:
        title += f" ({MOST_BARS} of {len(importance)})"
    return Bars(
        values=np.array([share for _, share in bars] or [0.0], dtype=np.float64),
        labels=[name for name, _ in bars] or ["–"],
        title=title,
        y_label="importance",
        low=0,
        reach=1,
    )


def history_panel(
    values: Float[np.ndarray, " trial"],
    *,
    numbers: Sequence[int] = (),
    lower_is_better: bool = False,
    name: str = "value",
) -> Points:
    """The value of every trial in the order of their numbers, and the best until then."""
    check_axes("values", values, "trial")
    x = np.array(numbers if len(numbers) else np.arange(len(values)), dtype=np.float64)
    check_length("numbers", x.tolist(), len(values), needed=True)
    values = np.asarray(values, dtype=np.float64)
    order = np.argsort(x, kind="stable")[:MOST_POINTS]
    x, y = x[order], values[order]
    known = np.isfinite(y)
    best = (np.minimum if lower_is_better else np.maximum).accumulate(y[known])  # of all until then
    pairs = zip(x[known], y[known], strict=True)
    texts = [f"trial {int(at)}: {name} {short(value)}" for at, value in pairs]
    dots = [
        Dots(
            x=x[known], y=y[known], name="trial", colour="muted", size=8,
            said=texts,
        ),
        Dots(x=x[known], y=best, name="best until then", size=0, joined=True, stepped=True),
    ]  # fmt: skip
    title = f"{name} by trial"
    if len(values) > MOST_POINTS:
        title += f" (the first {MOST_POINTS:,} of {len(values):,})"
    return Points(dots=dots, title=title, x_label="trial", y_label=name, whole_x=True)


def finder_panel(
    rates: Float[np.ndarray, " step"],
    losses: Float[np.ndarray, " step"],
    smoothed: Float[np.ndarray, " step"],
    *,
    suggestion: float | None = None,
) -> Points:
    """The loss over a learning rate that grows from step to step, raw and smoothed, the suggestion marked
    (Smith 2017, "Cyclical learning rates", 3.3). Raises ValueError for rates that are not above 0 and for
    lengths that differ.
    """
    for name, array in (("rates", rates), ("losses", losses), ("smoothed", smoothed)):
        check_axes(name, array, "step")
        check_length(name, array.tolist(), len(rates), needed=True)
    if (rates <= 0).any():
        raise ValueError(f"rates have {rates.min():g}, but a learning rate is above 0; leave that step out")
    dots = [
        Dots(x=rates, y=losses, name="loss of a step", colour="muted", size=4),
        Dots(x=rates, y=smoothed, name="smoothed", size=0, joined=True),
    ]
    marks = [] if suggestion is None else [(suggestion, f"suggested: {short(suggestion)}")]
    top = _height(losses, smoothed)
    return Points(
        dots=dots, title="loss while the learning rate grows", x_label="learning rate", y_label="loss",
        log_x=True, uprights=marks, y_range=top,
    )  # fmt: skip


def _height(losses: np.ndarray, smoothed: np.ndarray) -> tuple[float, float] | None:
    """The axis of a finder's loss: where it grows without end, what comes before the end stays readable."""
    known = np.concatenate([losses, smoothed])
    known = known[np.isfinite(known)]
    if not known.size:
        return None
    low, first = float(known.min()), float(known[0])
    high = min(float(known.max()), low + 2.5 * max(first - low, 1e-6 + 0.1 * abs(low)))
    room = 0.05 * (high - low or 1.0)
    return low - room, high + room
