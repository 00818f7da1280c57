"""How much a model's answer depends on each token: rank correlation of ratings, and tokens left out."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.tasks import Reading
from ..data.tasks.text_classes import STRANGE
from ..zoo.model import Model


def ranks(values: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """1 for the least; equal values share the mean of their places."""
    below = (values[:, None] > values).sum(dim=1)
    alike = (values[:, None] == values).sum(dim=1)
    return (below + (alike + 1) / 2).double()


def spearman(a: Float[Tensor, " n"], b: Float[Tensor, " n"]) -> float:
    """Pearson's correlation of the ranks; NaN where one of them rates all alike."""
    x, y = (each - each.mean() for each in (ranks(a), ranks(b)))
    return float((x @ y) / (x.norm() * y.norm()))


def kendall(a: Float[Tensor, " n"], b: Float[Tensor, " n"]) -> float:
    """Kendall's tau-b: pairs in the same order less those in the other; NaN where all are rated alike."""
    x, y = (torch.sign(each[:, None] - each).double() for each in (a, b))
    return float((x * y).sum() / ((x * x).sum() * (y * y).sum()).sqrt())


# The effect of leaving a token out

BLANKS = {"unknown": "unknown word", "zero": "zeros", "mean": "the mean"}
"""What takes the place of a token: another token, or another embedding, as the mean of all of the text."""
_UNKNOWN = ("[UNK]", "<unk>")


def classifies(model: Model) -> None:
    """Raises ValueError for a model that does not give one answer to a text."""
    if "classify" not in model.abilities or model.places() is not None:
        raise ValueError(
            f"{model.name!r} gives no single answer to a text; choose a classifier, such as sentiment"
        )


def asked_of(model: Model, pattern: Float[Tensor, "*heads query key"]) -> Float[Tensor, "*heads key"]:
    """The row of a pattern that the answer is read at: the first, or the mean of all where those are read.

    Classifiers of transformers, which have no config of ours, read the first token.
    """
    config = getattr(model, "config", None)
    read_at_first = config is None or config.pooling == "first"
    return pattern[..., 0, :] if read_at_first else pattern.mean(dim=-2)


def probabilities(model: Model, reading: Reading, edit: Any = None) -> Float[Tensor, " answer"]:
    """Of each answer."""
    trace = model.trace(reading, reduce=lambda at, x: x if at == "logits" else None, edit=edit)
    return trace["logits"][0].double().softmax(dim=-1)


def without(token: int, blank: str) -> Callable[[str, Tensor], Tensor]:
    """An edit that takes one token's embedding away."""

    def edit(address: str, values: Tensor) -> Tensor:
        if address != "encoder.embed":
            return values
        changed = values.clone()
        changed[token] = values.mean(dim=0) if blank == "mean" else 0
        return changed

    return edit


def unknown_id(model: Model) -> int:
    """The token that the model reads for a word that nobody knows. Raises ValueError where it has none."""
    reading = model.read(STRANGE)
    for at, token in enumerate(reading.tokens["encoder"]):
        if token in _UNKNOWN:
            return int(reading.inputs[0][0, at])
    raise ValueError(f"{model.name!r} knows no unknown word; choose another blank")


def unknown(reading: Reading, token: int, id_: int) -> Reading:
    """The same with one token made unknown."""
    ids = reading.inputs[0].clone()
    ids[0, token] = id_
    return replace(reading, inputs=(ids, *reading.inputs[1:]))


def effects(model: Model, reading: Reading, tokens: list[int], blank: str) -> Float[Tensor, " token"]:
    """By how much the probability of the model's own answer changes without each token, up or down."""
    whole = probabilities(model, reading)
    answer = int(whole.argmax())
    if blank == "unknown":
        id_ = unknown_id(model)
        changed = [probabilities(model, unknown(reading, token, id_))[answer] for token in tokens]
    else:
        changed = [probabilities(model, reading, without(token, blank))[answer] for token in tokens]
    return (whole[answer] - torch.stack(changed)).abs()
