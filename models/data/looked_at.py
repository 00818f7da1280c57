"""One example as a model reads it, token by token; and what of a batch is padding."""

from __future__ import annotations

import torch
from torch import Tensor

from models.data.looked import Cell, Shown
from models.data.tasks.batch import IGNORED, Batch
from models.data.tasks.task import Task

_SIDES = {
    "encoder-only": ("encoder",),
    "decoder-only": ("decoder",),
    "encoder-decoder": ("encoder", "decoder"),
}
MOST_CELLS = 96
_MOST_TEXT = 400
_UNKNOWN = ("[UNK]", "<unk>")


def pad_of(task: Task) -> int | None:
    """The id of padding; 0 where a task has none of its own and fills short rows after what is asked."""
    said = task.dictates().get("pad_id")
    return int(said) if said is not None else None


def padding_of(task: Task, batch: Batch) -> tuple[int, Tensor]:
    """All positions that are read, and how many of them are not padding, [side, example]."""
    own = []
    for side, ids in enumerate(batch.inputs):
        pad = pad_of(task)
        if pad is not None:
            own.append((ids != pad).sum(dim=1))
        elif ids.shape == batch.targets.shape and side == len(batch.inputs) - 1:
            own.append(_last(batch.targets != IGNORED))
        else:
            own.append(torch.full((len(ids),), ids.shape[1]))
    return sum(ids.numel() for ids in batch.inputs), torch.stack(own)


def _last(asked: Tensor) -> Tensor:
    """How many positions there are up to the last that is asked, by row; all where none is."""
    places = torch.arange(1, asked.shape[1] + 1).expand_as(asked)
    last = torch.where(asked, places, 0).max(dim=1).values
    return torch.where(last > 0, last, asked.shape[1])


def cells_of(task: Task, batch: Batch, at: int, text: str = "") -> Shown:
    """The example `at` of a batch of tokens."""
    made, outputs = task.made_of(), task.outputs()
    names = made.names if made is not None else outputs
    own = frozenset(made.own) if made is not None else frozenset(range(len(names)))
    sides, more = {}, 0
    lengths = padding_of(task, batch)[1][:, at].tolist()
    asked = batch.targets[at]
    whole = asked.shape != batch.inputs[-1][at].shape
    for side, ids, length in zip(_SIDES[task.kind], batch.inputs, lengths, strict=True):
        targets = asked.tolist() if not whole and ids is batch.inputs[-1] else [IGNORED] * ids.shape[1]
        read = ids[at].tolist()[:length]
        sides[side] = tuple(
            Cell(
                names[id_],
                special=id_ not in own,
                target=outputs[target] if target != IGNORED else "",
                unknown=names[id_] in _UNKNOWN,
            )
            for id_, target in zip(read[:MOST_CELLS], targets, strict=False)
        )
        more += max(0, len(read) - MOST_CELLS)
    answer = " ".join(outputs[target] for target in asked.tolist() if target != IGNORED) if whole else ""
    return Shown(sides, answer, text[:_MOST_TEXT] + "…" * (len(text) > _MOST_TEXT), more)
