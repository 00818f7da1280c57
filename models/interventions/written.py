"""What a model writes while edits are in force: greedy, token by token, each by a pass of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from models.data.tasks import Reading
from models.interventions.applied import Prepared
from models.interventions.edit import Edit
from models.interventions.subject import Subject

Told = Callable[[float], object]


def written(
    model: Subject,
    reading: Reading,
    edits: Sequence[Edit],
    settings: dict[str, Any],
    told: Told = lambda share: None,
) -> Reading:
    """The reading with what the model writes after it. told: hears which share of the most is written.

    Raises ValueError where an edit does not fit the model or the reading, and for one that writes nothing.
    """
    writing = model.writing(reading)
    prepared = Prepared(model, reading, edits, settings) if edits else None
    ids: list[int] = []
    while len(ids) < writing.most:
        told(len(ids) / writing.most)
        now = _grown(reading, [*writing.begun, *ids])
        ids.append(model.following(now, None if prepared is None else prepared.applied(now)))
        if ids[-1] in writing.ends:
            break
    return writing.finished(ids)


def _grown(reading: Reading, ids: list[int]) -> Reading:
    """The reading whose last stack reads these tokens."""
    *before, last = reading.inputs
    return replace(reading, inputs=(*before, torch.tensor([ids], device=last.device)))
