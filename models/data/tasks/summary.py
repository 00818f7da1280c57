"""Counts and measures a task's data, and shows its first examples as the model will read them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TypeVar, get_args

import numpy as np
import torch
from torch import Tensor

from ...config import Kind
from ..data_summary import DataSummary, ExamplePreview, TokenPreview
from ..pictures import N_CLASSES
from .batch import IGNORED, Batch, Split
from .finite import Finite, OwnFile, OwnTable, texts_of
from .language_model import TextModel
from .masked import Masked
from .pictures import Pictures
from .task import Task, generator_of

_SIDES = {kind: kind.removesuffix("-only").split("-") for kind in get_args(Kind)}
MOST_CELLS = 96
_MOST_TEXT = 400
_UNKNOWN = ("[UNK]", "<unk>")


def pad_of(task: Task) -> int | None:
    """The id of padding; 0 where a task has none of its own and fills short rows after what is asked."""
    pad = task.required_sizes().get("pad_id")
    return int(pad) if pad is not None else None


def padding_of(task: Task, batch: Batch) -> tuple[int, Tensor]:
    """All positions that are read, and how many of them are not padding, [side, example]."""
    own = []
    for side, ids in enumerate(batch.inputs):
        pad = pad_of(task)
        if pad is not None:
            own.append((ids != pad).sum(dim=1))
        elif ids.shape == batch.targets.shape and side == len(batch.inputs) - 1:
            # up to the last position that is asked; all where none is
            places = torch.arange(1, ids.shape[1] + 1).expand_as(ids)
            last = torch.where(batch.targets != IGNORED, places, 0).max(dim=1).values
            own.append(torch.where(last > 0, last, ids.shape[1]))
        else:
            own.append(torch.full((len(ids),), ids.shape[1]))
    return sum(ids.numel() for ids in batch.inputs), torch.stack(own)


def cells_of(task: Task, batch: Batch, at: int, text: str = "") -> ExamplePreview:
    """The example `at` of a batch of tokens."""
    alphabet, outputs = task.made_of(), task.outputs()
    names = alphabet.names if alphabet is not None else outputs
    own = frozenset(alphabet.own) if alphabet is not None else frozenset(range(len(names)))
    sides, more = {}, 0
    lengths = padding_of(task, batch)[1][:, at].tolist()
    asked_ids = batch.targets[at]
    whole = asked_ids.shape != batch.inputs[-1][at].shape
    for side, ids, length in zip(_SIDES[task.kind], batch.inputs, lengths, strict=True):
        targets = asked_ids.tolist() if not whole and ids is batch.inputs[-1] else [IGNORED] * ids.shape[1]
        read = ids[at].tolist()[:length]
        sides[side] = tuple(
            TokenPreview(
                names[id_],
                special=id_ not in own,
                target=outputs[target] if target != IGNORED else "",
                unknown=names[id_] in _UNKNOWN,
            )
            for id_, target in zip(read[:MOST_CELLS], targets, strict=False)
        )
        more += max(0, len(read) - MOST_CELLS)
    answer = " ".join(outputs[target] for target in asked_ids.tolist() if target != IGNORED) if whole else ""
    return ExamplePreview(sides, answer, text[:_MOST_TEXT] + "…" * (len(text) > _MOST_TEXT), more)


SPLITS: tuple[Split, ...] = ("training", "held out", "test")
MEASURED = 4_000
"""Examples whose tokens are counted; of more, as many as this spread over all."""
_SHOWN, _PICTURES, _DRAWN = 4, 10, 512
_BATCHES = 4
_FEW = 20_000  # sentences
Row = TypeVar("Row")
_BINS = 24


def summary_of(task: Task, batch_size: int = 0) -> DataSummary:
    """Counts and measures a task that has its data at hand. Raises ValueError as reading them does.

    batch_size: of the batches whose padding is measured; 0 for the task's usual one.
    """
    source = task.own_source if isinstance(task, OwnFile) else None
    if isinstance(task, Pictures):
        return _at_pictures(task)
    required = task.required_sizes()
    size = batch_size or int(task.training.get("batch_size", 32))
    counts = np.array(_token_counts(task), dtype=np.int64)
    room = int(required["max_len"]) if len(counts) else None
    lengths, ends = _histogram(counts, room)
    batch, texts = _first(task)
    return DataSummary(
        source=source,
        sizes=_sizes(task),
        unit="characters" if isinstance(task, TextModel) else "examples",
        classes=_classes(task),
        lengths=lengths,
        ends=ends,
        measured=len(counts),
        median=float(np.median(counts)) if len(counts) else 0.0,
        longest=int(counts.max(initial=0)),
        room=room,
        cut=float((counts > room).mean()) if room is not None else None,
        padding=_padding(task, size),
        batch_size=size,
        vocabulary=int(required["vocab_size"]),
        unknown=_unknown(task),
        examples=tuple(cells_of(task, batch, at, text) for at, text in enumerate(texts)),
    )


def _sizes(task: Task) -> dict[str, int | None]:
    if isinstance(task, TextModel):  # tokens of a long text take minutes to count
        return {split: len(text) for split, text in zip(SPLITS, task._texts, strict=True)}
    if isinstance(task, Masked):
        training = len(task.sentences("training"))
        return {"training": training, "held out": task.count("held out"), "test": task.count("test")}
    return {str(split): count for split, count in task.split_sizes().items()}


def _spread(n: int, most: int) -> list[int]:
    """At most so many numbers below n, evenly over all."""
    return list(range(n)) if n <= most else np.linspace(0, n - 1, most).astype(int).tolist()


def _token_counts(task: Task) -> list[int]:
    """The tokens of examples of all parts before any is cut; of a pair, those of its longer side."""
    if isinstance(task, TextModel):
        return []
    if isinstance(task, Masked):
        return [
            2 + len(task.tokenizer.encode(text))
            for split in SPLITS[:2]
            for text in _some(task.sentences(split))
        ]
    if isinstance(task, OwnTable) and task.rows:
        rows = [row for split in SPLITS for row in task.rows[split]]
        return [max(map(task.n_tokens, texts_of(row))) for row in _some(rows)]
    batch = task.sketch(_DRAWN)
    return [int(n) for n in padding_of(task, batch)[1].max(dim=0).values] if _has_tokens(batch) else []


def _some(rows: Sequence[Row]) -> Iterable[Row]:
    return (rows[at] for at in _spread(len(rows), MEASURED))


def _has_tokens(batch: Batch) -> bool:
    return not batch.inputs[0].is_floating_point()


def _histogram(counts: np.ndarray, room: int | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many counts are in each bin, and each bin's last number; one bin ends where the room does."""
    if not len(counts) or room is None:
        return (), ()
    top = int(counts.max())
    step = max(1, -(-min(top, 4 * room) // _BINS))
    ends = sorted({*range(step, top + step, step), room} if top > room else {*range(step, top + step, step)})
    if len(ends) > 2 * _BINS:  # a few are far longer than all others
        ends = [*ends[: 2 * _BINS - 1], top]
    bins = np.searchsorted(ends, counts)
    return tuple(np.bincount(bins, minlength=len(ends)).tolist()), tuple(ends)


def _classes(task: Task) -> dict[str, int]:
    """How many examples have each answer, where there is one answer to each; the most frequent first."""
    if isinstance(task, OwnTable) and task.table is not None and (names := task.table.classes):
        counts = Counter(names[label] for split in SPLITS for _, label in task.rows[split])
    else:
        if "n_outputs" not in task.required_sizes():
            return {}
        batch, names = task.batch(generator_of(0, 0), _DRAWN), task.outputs()
        counts = Counter(names[at] for at in batch.targets[:, 0].tolist() if at >= 0)
    return dict(counts.most_common())


def _padding(task: Task, size: int) -> float | None:
    """The share of all positions of the first batches of training that are padding."""
    if isinstance(task, TextModel):
        return 0.0
    if isinstance(task, Masked) and (_sizes(task)["training"] or 0) > _FEW:
        return None  # all of them would have to be encoded first
    read = padded = 0
    light = not isinstance(task, Finite) and type(task).sketch is not Task.sketch
    for batch in [task.sketch(size)] if light else islice(task.batches(0, size), _BATCHES):
        if not _has_tokens(batch):
            return None
        all_, own = padding_of(task, batch)
        read, padded = read + all_, padded + all_ - int(own.sum())
    return padded / read


def _unknown(task: Task) -> float | None:
    """The share of the tokens of held-out examples that stand for what the vocabulary lacks."""
    alphabet = task.made_of()
    places = [at for at, name in enumerate(alphabet.names) if name in _UNKNOWN] if alphabet else []
    if not places:
        return None
    if isinstance(task, TextModel):
        batch = task.sketch(64)
    elif isinstance(task, Finite) and (n := task.count("held out")) is not None:
        batch = task.numbered("held out", _spread(n, 500), generator_of(0, 0))
    else:
        batch = task.batch(generator_of(0, 0), _DRAWN, held_out=True)
    ids = torch.cat([side.flatten() for side in batch.inputs])
    own = ids if pad_of(task) is None else ids[ids != pad_of(task)]
    return float((own == places[0]).float().mean())


def _first(task: Task) -> tuple[Batch, list[str]]:
    """The first examples of training, each with its text as it stands in a person's file."""
    if isinstance(task, TextModel):
        ids = task.tokenizer.tensor(task._texts.training[: 100 * _SHOWN * task.length])
        n_pieces = min(_SHOWN, max(1, (len(ids) - 1) // task.length))
        pieces = [ids[at * task.length : (at + 1) * task.length + 1] for at in range(n_pieces)]
        stacked = torch.stack(pieces).long()
        return Batch((stacked[:, :-1],), stacked[:, 1:]), [""] * n_pieces
    if isinstance(task, Finite) and (n := task.count("training")) is not None:
        numbers = list(range(min(_SHOWN, n)))
        batch = task.numbered("training", numbers, generator_of(0, 0))
        if isinstance(task, OwnTable):
            return batch, [" ⇥ ".join(texts_of(task.rows["training"][at])) for at in numbers]
        return batch, [""] * len(numbers)
    return task.sketch(_SHOWN), [""] * _SHOWN


def _at_pictures(task: Pictures) -> DataSummary:
    sizes = {str(split): count for split, count in task.split_sizes().items()}
    pictures, labels = task.pictures_of("training", range(min(_PICTURES, task.count("training"))))
    every: Tensor = torch.cat([task.pictures.parts[split][1] for split in SPLITS])
    counts = torch.bincount(every, minlength=N_CLASSES).tolist()
    return DataSummary(
        sizes=sizes,
        unit="pictures",
        classes={str(at): n for at, n in enumerate(counts)},
        room=task.cut.count,
        pictures=pictures.numpy(),
        labels=tuple(str(label) for label in labels.tolist()),
    )
