"""Heads of any model, colder and hotter: their scores divided by T, and what the model then answers."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.data.tasks import Reading
from models.engine.trace import Trace
from models.lessons.softmax.temperature import N_SHOWN, TEMPERATURES
from models.lessons.softmax.weights import Softmax, softmax
from models.zoo.model import Model


@dataclass(frozen=True)
class Answers:
    """What the model answers at one position, at each temperature: its likeliest outputs at any of them."""

    words: list[str]
    probabilities: Float[Tensor, "temperature word"]


def row(trace: Trace, address: str, *, head: int, query: int, temperatures: Tensor = TEMPERATURES) -> Softmax:
    """softmax(scores / T) of one query in one head, [temperature, key]."""
    scores = trace[f"{address}.scores"][head, query].double()  # [key]
    return softmax(scores / temperatures[:, None])


def answers(
    model: Model,
    reading: Reading,
    address: str,
    *,
    heads: list[int],
    at: int,
    temperatures: Tensor = TEMPERATURES,
) -> Answers:
    """The probabilities of the outputs at a position while the scores of these heads are divided by T.

    The model reads the text once for each temperature, the scores of one attention edited on the way.
    Raises ValueError for a model whose outputs have no names, and where its scores cannot be edited.
    """
    names = model.names(reading)
    if not names:
        raise ValueError(
            f"{model.name!r} answers with numbers that have no names, so no answer can be watched; choose a "
            "model that chooses between words or classes"
        )
    rows = torch.stack(
        [_answer(model, reading, f"{address}.scores", heads, t, at) for t in temperatures.tolist()]
    )
    likely = rows[:, : len(names)].softmax(dim=-1)
    shown = likely.amax(dim=0).topk(min(N_SHOWN, len(names))).indices
    return Answers([names[int(word)] for word in shown], likely[:, shown])


def _answer(
    model: Model, reading: Reading, scores: str, heads: list[int], temperature: float, at: int
) -> Float[Tensor, " output"]:
    """The logits at a position, with the scores of these heads at a temperature."""

    def heated(address: str, value: Tensor) -> Tensor:
        if address != scores or temperature == 1:
            return value
        changed = value.clone()
        changed[heads] /= temperature
        return changed

    trace = model.trace(reading, reduce=only_logits, edit=heated)
    logits: Tensor = trace["logits"]
    return logits[min(at, len(logits) - 1)].double()


def only_logits(address: str, value: Tensor) -> Tensor | None:
    """The `reduce` of a trace that keeps nothing else."""
    return value if address == "logits" else None
