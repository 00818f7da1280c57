"""Where a model errs most: the examples with the highest loss, and the error of each class of pictures."""

from collections.abc import Sequence
from typing import Any

from models.data.tasks import At, Each, Split, Task
from models.data.tasks.pictures import Pictures
from models.scores.examples import Piece
from models.scores.intervals import interval
from models.scores.validation import Found, n_of, value_of

MOST, MOST_CHARACTERS = 40, 400
Entry = dict[str, Any]


def most_wrong(task: Task, held: Sequence[Piece], ats: Sequence[At]) -> list[Entry]:
    """The held-out examples that are answered wrongly, the highest loss first: what was given, the right
    answer, the model's, and the probability of that (of its least sure token, where it has several).
    """
    found = []
    for piece, at in zip(held, ats, strict=True):
        losses = at.loss().above
        texts = task.typed(piece.batch, "held out", piece.numbers)
        for row in (~(at.right | ~at.asked).all(dim=1)).nonzero().flatten().tolist():
            asked = at.asked[row]
            truth, answer = (task.written(ids[row][asked].tolist()) for ids in (at.targets, at.best))
            found.append(
                {
                    "text": texts[row][:MOST_CHARACTERS],
                    "truth": truth[:MOST_CHARACTERS],
                    "answer": answer[:MOST_CHARACTERS],
                    "probability": float(at.sure[row][asked].min()),
                    "loss": float(losses[row]),
                }
            )
    return sorted(found, key=lambda entry: -entry["loss"])[:MOST]


def by_class(task: Pictures, held: Sequence[Piece], found: Found, split: Split) -> Entry:
    """The error of each class of pictures as a share of the variance; and the pictures with the highest."""
    each = next(iter(found.judged.scores.values()))
    numbers = [number for piece in held for number in piece.numbers or []]
    if len(numbers) != len(each.above):  # of an older run, which draws pictures without their numbers
        return {"rows": [], "wrong": []}
    labels = task.drawn(split, numbers)[1]
    rows = []
    for label in range(task.pictures.n_classes):
        part = Each(*(side[labels == label] for side in each))
        if n_of(part):
            low, high = interval(part) or (None, None)
            entry = {"class": str(label), "n": n_of(part), "value": value_of(part), "low": low, "high": high}
            rows.append(entry)
    shares = (each.above / each.below).tolist()
    order = sorted(range(len(shares)), key=lambda at: -shares[at])[:MOST]
    texts = [text for piece in held for text in task.typed(piece.batch, split, piece.numbers)]
    wrong = [{"text": texts[at], "class": str(int(labels[at])), "value": shares[at]} for at in order]
    return {"rows": rows, "wrong": wrong if split == "held out" else []}
