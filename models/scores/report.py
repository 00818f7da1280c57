"""The report of a run: what its model scores on held-out and on test examples, and where it errs.

It is bounded: as many examples of each part as a validation reads, and at most 128 translations written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from models.data.tasks import At, Each, Split, Task
from models.data.tasks.labelled import MOST_CLASSES
from models.data.tasks.language_model import TextModel
from models.data.tasks.pairs import Pairs
from models.data.tasks.pictures import Pictures
from models.data.tasks.text_classes import TextClasses
from models.engine.transformer import Transformer
from models.scores import errors, written
from models.scores.classes import class_scores, confusion, macro_f1, macro_f1_interval
from models.scores.examples import Piece, pieces
from models.scores.intervals import WILSON, Interval, between, counts, interval, method, right_of
from models.scores.validation import Found, judge, n_of, value_of, verdict

VERSION = 1
PARTS: tuple[Split, ...] = ("held out", "test")
Entry = dict[str, Any]
MOST_OUTCOMES = 5_000


def report(task: Task, model: Transformer, *, examples: int, at_once: int) -> Entry:
    """The report as JSON values: "parts" -> scores of each part; of the held-out one also "classes",
    "positions", "wrong" and "translations", where the task has such. Call `eval` first.

    examples: of each part at most; at_once: read together. A part without examples is left out.
    """
    found: Entry = {"version": VERSION, "unit": unit_of(task), "parts": {}}
    sizes = task.split_sizes()
    for split in PARTS:
        held = pieces(task, split, examples, at_once)
        if not held:
            continue
        judged = judge(task, model, [piece.batch for piece in held])
        part: Entry = {"n": sum(len(piece.batch) for piece in held), "of": sizes[split]}
        part["scores"] = scores_of(judged)
        if split == "held out":
            part["outcomes"] = outcomes(judged)
        found["parts"][split] = part | _further(task, model, held, judged, split, part["scores"])
    return found


def _further(
    task: Task, model: Transformer, held: list[Piece], judged: Found, split: Split, scores: list[Entry]
) -> Entry:
    """What this kind of task has beyond its scores; scores of its own are added to them."""
    more: Entry = {}
    if isinstance(task, Pairs):
        _add(scores, [_grown("perplexity", judged, math.exp)])
        lines, made = written.translations(task, model, held, split)
        _add(scores, lines)
        more["translations"] = made if split == "held out" else []
    elif type(task).judged is Task.judged:
        ats = [task.at(model, _moved(piece, model)) for piece in held]
        if "continue" in task.abilities:
            _add(scores, _of_text(task, held, judged))
            more["positions"] = positions(ats)
        if is_classifier(task):
            more["classes"], macro = classes(task, ats)
            _add(scores, [macro])
        if split == "held out" and ("answer" in task.abilities or is_classifier(task)):
            more["wrong"] = errors.most_wrong(task, held, ats)
    elif isinstance(task, Pictures):
        more["errors"] = errors.by_class(task, held, judged, split)
    return more


def is_classifier(task: Task) -> bool:
    """Whether each example has one answer of a few classes."""
    one = task.dictates().get("pooling") in ("first", "mean")
    return one and 2 <= len(task.outputs()) <= MOST_CLASSES


def unit_of(task: Task) -> str:
    """What an example is."""
    if isinstance(task, Pictures):
        return "pictures"
    named = {"translate": "sentences", "answer": "questions", "fill": "sentences"}
    known = next((named[ability] for ability in task.abilities if ability in named), "")
    if isinstance(task, TextModel | TextClasses):
        known = "texts" if isinstance(task, TextClasses) else "pieces of text"
    return known or "examples"


def outcomes(found: Found) -> dict[str, list[list[float]]]:
    """What each example adds to a score: sums [example], and what they are divided by [example].

    Two runs with the same data are compared by these (models/runs/verdicts.py); the first 5,000 are kept.
    """
    scores = {**found.judged.losses, **found.judged.scores}
    rounded = {name: [each[:MOST_OUTCOMES].tolist() for each in pair] for name, pair in scores.items()}
    return {name: [[float(f"{v:.6g}") for v in each] for each in pair] for name, pair in rounded.items()}


def scores_of(found: Found) -> list[Entry]:
    """The loss and every score of a verdict, each with its n, its interval and how that was found."""
    said, entries = verdict(found), []
    for name, value in said.scores.items():
        each = found.judged.scores.get(name)
        right = None if each is None else right_of(each)
        how = method(said.n[name]) if right is None else WILSON
        entry = _entry(name, value, said.n[name], said.intervals.get(name), how)
        if right is not None:
            entry["right"] = right[0]  # so many of n examples
        entries.append(entry)
    return entries


def _entry(name: str, value: float, n: int, within: Interval | None, how: str) -> Entry:
    low, high = within or (None, None)
    return {"name": name, "value": value, "n": n, "low": low, "high": high, "method": how if within else ""}


def _grown(name: str, found: Found, grow: Callable[[float], float]) -> Entry:
    """A score that grows with the loss, so that its interval is that of the loss, grown alike."""
    (each,) = [found.judged.losses[name] for name in ("translation", "loss") if name in found.judged.losses]
    within = interval(each)
    ends = None if within is None else (grow(within[0]), grow(within[1]))
    return _entry(name, grow(value_of(each)), n_of(each), ends, method(n_of(each)))


def _of_text(task: Task, held: list[Piece], found: Found) -> list[Entry]:
    """Perplexity, bits per token and, where tokens are parts of a text, bits per byte of it."""
    entries = [
        _grown("perplexity", found, math.exp),
        _grown("bits per token", found, lambda nats: nats / math.log(2)),
    ]
    if isinstance(task, TextModel):
        rows = [row for piece in held for row in piece.batch.targets.tolist()]
        bytes_of = torch.tensor([_bytes(task.written(row)) for row in rows], dtype=torch.float64)
        each = Each(found.judged.losses["loss"].above / math.log(2), bytes_of)
        entries.append(_entry("bits per byte", value_of(each), n_of(each), interval(each), method(len(rows))))
    return entries


def _bytes(text: str) -> int:
    """In UTF-8; a character that was cut in two is counted as one byte on each side."""
    return len(text.encode()) - 2 * text.count("\N{REPLACEMENT CHARACTER}")


def positions(ats: Sequence[At]) -> Entry:
    """The mean loss (nats) at each position over the examples that ask there, with its 95% band."""
    width = max(at.nats.shape[1] for at in ats)
    nats, asked = (np.zeros((sum(len(at.nats) for at in ats), width)) for _ in range(2))
    row = 0
    for at in ats:
        n, wide = at.nats.shape
        asked[row : row + n, :wide] = at.asked.numpy()
        nats[row : row + n, :wide] = np.where(at.asked.numpy(), at.nats.numpy(), 0.0)
        row += n
    with np.errstate(invalid="ignore", divide="ignore"):
        again = np.concatenate([times @ nats / (times @ asked) for times in counts(len(nats))])
        mean = nats.sum(axis=0) / asked.sum(axis=0)
    some = [at for at in range(width) if asked[:, at].sum() > 1]
    bands = [between(again[:, at]) or (mean[at], mean[at]) for at in some]
    return {
        "position": [at + 1 for at in some],
        "loss": [float(mean[at]) for at in some],
        "low": [float(low) for low, _ in bands],
        "high": [float(high) for _, high in bands],
        "n": [int(asked[:, at].sum()) for at in some],
    }


def classes(task: Task, ats: Sequence[At]) -> tuple[Entry, Entry]:
    """Who is taken for whom with the scores of each class; and their mean F1 as a score."""
    truth = [int(row[0]) for at in ats for row in at.targets]
    answers = [int(row[0]) for at in ats for row in at.best]
    names = list(task.outputs())
    matrix = confusion(truth, answers, len(names))
    rows = [{"class": name, **each._asdict()} for name, each in zip(names, class_scores(matrix), strict=True)]
    within = macro_f1_interval(truth, answers, len(names))
    macro = _entry("macro F1", float(macro_f1(matrix)), len(truth), within, method(len(truth)))
    return {"names": names, "confusion": matrix.tolist(), "rows": rows}, macro


def _add(scores: list[Entry], more: list[Entry]) -> None:
    scores.extend(entry for entry in more if math.isfinite(entry["value"]))


def _moved(piece: Piece, model: Transformer) -> Any:
    return piece.batch.to(next(model.parameters()).device)
