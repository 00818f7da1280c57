"""Estimates from gradients what edits would do: one pass back in place of a pass for each edit."""

from collections.abc import Sequence
from typing import Any

from ..data.tasks import Reading
from .head_sweep import (
    Asked,
    Job,
    Row,
    Sweep,
    Sweepable,
    Target,
    Text,
    head_jobs,
    over_texts,
    position_jobs,
    side_by_side,
)

FLAT = ("kl", "distance", "score")
"""What has no slope where nothing is changed yet, or no gradient at all."""


@over_texts
def attribute_heads(
    model: Sweepable,
    text: Text,
    metric: Asked,
    *,
    change: str = "zero",
    other: Text = None,
    by_position: bool = False,
    **settings: Any,
) -> Sweep:
    """Attribution patching (Nanda 2023; Syed et al. 2023): what `sweep_heads` finds of the same arguments, as
    the gradient of the metric at each head's z times what the change makes of z: exact for small changes.

    Raises ValueError as `sweep_heads` does, and for a metric that is flat where nothing is changed.
    """
    reading = model.reading_of(text, settings)
    target = _with_slope(model, reading, metric)
    return _estimated(
        model, reading, target, *head_jobs(model, reading, change, other, by_position, settings, target)
    )


@over_texts
def attribute_positions(model: Sweepable, text: Text, metric: Asked, other: Text, **settings: Any) -> Sweep:
    """The same for the stream that enters each layer at each position: what `sweep_positions` finds."""
    reading = model.reading_of(text, settings)
    target = _with_slope(model, reading, metric)
    return _estimated(model, reading, target, *position_jobs(model, reading, other, settings))


def _with_slope(model: Sweepable, reading: Reading, metric: Asked) -> Target:
    target = Target.read(metric).numbered(model, reading)
    if target.kind in FLAT:
        raise ValueError(
            f"gradients say nothing of {target}, which has no slope where nothing is changed; take a logit, "
            "a probability, the loss or a function"
        )
    return target


def _estimated(
    model: Sweepable, reading: Reading, target: Target, jobs: Sequence[Job], rows: Sequence[Row]
) -> Sweep:
    trace = model.trace(reading, grad=target)
    before, values = float(target.of_pass(trace, reading)), []
    for job in jobs:
        if job.place() not in trace.grads:
            values.append(before)
            continue
        row, grad = (side_by_side(each[job.place()]) for each in (trace, trace.grads))
        values.append(before + float(((job.change(row) - row).double() * grad).sum()))
    return Sweep.of(target, before, values, rows)
