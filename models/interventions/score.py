"""How a model does at its task while one head or another is switched off: held-out answers that are right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Int
from torch import Tensor, nn

from models.data.tasks import IGNORED, Example, Reading
from models.interventions.rows import Job, changing

Told = Callable[[float], object]


@runtime_checkable
class Examined(Protocol):
    """A model that knows held-out examples of its task, and reads a batch of one."""

    name: str

    def logits(self, reading: Reading, n_rows: int, at: int | None) -> Tensor: ...
    def examples(self) -> Sequence[Example]: ...


def scores_of(
    model: Examined, modules: Mapping[str, nn.Module], jobs: Sequence[Job], told: Told, *, most_tokens: int
) -> list[float]:
    """The share of all asked answers that are right: without any edit, then with each alone.

    The right words stand before each answer, so greedy writing gets the same examples right throughout.
    Batched: each example is read in as many rows as there are edits. Raises ValueError where no examples are
    known.
    """
    examples = model.examples()
    if not examples:
        raise ValueError(
            f"{model.name!r} brings no held-out examples with answers, so it has no score; choose another"
        )
    right = torch.zeros(1 + len(jobs), dtype=torch.long)
    for number, example in enumerate(examples):
        told(number / len(examples))
        right += _right(model, example, modules, jobs, most_tokens)
    asked = sum(int((targets != IGNORED).sum()) for _, targets in examples)
    return (right.double() / asked).tolist()


def _right(
    model: Examined, example: Example, modules: Mapping[str, nn.Module], jobs: Sequence[Job], most_tokens: int
) -> Int[Tensor, " row"]:
    """How many answers of an example are right: without any edit, then with each."""
    reading, targets = example
    asked = targets != IGNORED
    n_rows = max(1, most_tokens // max(read.shape[1] for read in reading.inputs))
    rows = [model.logits(reading, 1, None)]
    for first in range(0, len(jobs), n_rows):
        part = jobs[first : first + n_rows]
        with changing(modules, part):
            rows.append(model.logits(reading, len(part), None))
    best = torch.cat([logits[:, asked].argmax(dim=-1) for logits in rows])
    return (best == targets[asked]).sum(dim=1)
