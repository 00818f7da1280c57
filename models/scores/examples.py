"""The examples that a report stands on: batches of a part, and what of each one can be typed again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from models.data.tasks import Batch, Split, Task
from models.data.tasks.finite import Finite

HELD_OUT_SEED, TEST_SEED = 1, 2


class Piece(NamedTuple):
    """A batch of a part, and the numbers of its examples there, where they have any."""

    batch: Batch
    numbers: list[int] | None


def pieces(task: Task, split: Split, size: int, at_once: int) -> list[Piece]:
    """Up to `size` examples of a part, the ones that a validation reads where they are held out.

    Examples that are made at random are other ones for a test: what a validation reads is left out of it.
    """
    seed = TEST_SEED if split == "test" else HELD_OUT_SEED
    batches = task.examples(seed, size, split=split, at_once=at_once)
    numbers = task.chosen(seed, size, split=split) if isinstance(task, Finite) else None
    if numbers is None and split == "test":
        known = {key for batch in task.examples(HELD_OUT_SEED, size) for key in keys(batch)}
        batches = [kept for batch in batches if len(kept := without(batch, known))]
    if numbers is None:
        return [Piece(batch, None) for batch in batches]
    starts = [0]
    for batch in batches:
        starts.append(starts[-1] + len(batch))
    return [Piece(b, numbers[first : first + len(b)]) for b, first in zip(batches, starts[:-1], strict=True)]


def keys(batch: Batch) -> Iterator[tuple[object, ...]]:
    """What tells the examples of a batch apart, whatever their padding."""
    for row in range(len(batch)):
        yield tuple(_without_end(side[row]) for side in (*batch.inputs, batch.targets))


def without(batch: Batch, known: set[tuple[object, ...]]) -> Batch:
    """The examples of a batch that are none of those known, each once."""
    kept, seen = list[int](), set(known)
    for row, key in enumerate(keys(batch)):
        if key not in seen:
            kept.append(row)
            seen.add(key)
    return rows_of(batch, kept)


def rows_of(batch: Batch, rows: Sequence[int]) -> Batch:
    """Some examples of a batch."""
    at = torch.tensor(rows, dtype=torch.int64)
    extra = {name: value[at] for name, value in batch.extra.items()}
    return replace(
        batch, inputs=tuple(side[at] for side in batch.inputs), targets=batch.targets[at], extra=extra
    )


def _without_end(row: Tensor) -> tuple[object, ...]:
    """A row without what all padding is: zeros, or targets that ask nothing."""
    values = row.flatten().tolist()
    while values and values[-1] in (0, -100):
        values.pop()
    return tuple(values)
