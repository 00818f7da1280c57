"""Is attention explanation? Weights against effects, and other weights with the same answer."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from ..data.tasks import Reading
from ..fields import Field, number, one_of, whole
from ..percent import percent
from ..zoo.model import Model
from .attribution import BLANKS, asked_of, classifies, effects, kendall, probabilities
from .finding import Chart, Finding, Number, Outcome, Tell, words_of
from .sources import is_word, own_texts, readings

MOST_APART = 0.693
"""ln 2: the largest Jensen-Shannon divergence there is."""


def asked_row(model: Model, reading: Reading) -> tuple[str, Float[Tensor, "head key"]]:
    """The address of the last layer's pattern, and its row that gives the answer."""
    address = f"encoder.{model.attention('encoder.self').layers[-1]}.self.pattern"
    pattern = model.trace(reading, reduce=lambda at, x: x if at == address else None)[address]
    return address, asked_of(model, pattern)


def permuting(address: str, order: Tensor) -> Callable[[str, Tensor], Tensor]:
    """An edit that gives every head's weights of the last layer to other keys."""
    return lambda at, pattern: pattern[..., order] if at == address else pattern


def divergence(p: Float[Tensor, "*row key"], q: Float[Tensor, "*row key"]) -> Float[Tensor, "*row"]:
    """Jensen-Shannon divergence in nats, 0 to ln 2."""
    mean = (p + q) / 2
    terms = (torch.xlogy(each, each) - torch.xlogy(each, mean) for each in (p, q))
    return sum(term.sum(dim=-1) for term in terms) / 2  # type: ignore[return-value]


def permuted(model: Model, reading: Reading, orders: list[Tensor], most: float) -> tuple[list[float], float]:
    """How far each order of the weights moves the answer (total variation); and how far apart from the true
    weights, in the mean of the heads, are the farthest of those that move it by `most` or less.
    """
    whole = probabilities(model, reading)
    address, row = asked_row(model, reading)
    moved, farthest = [], 0.0
    for order in orders:
        change = float((probabilities(model, reading, permuting(address, order)) - whole).abs().sum() / 2)
        moved.append(change)
        if change <= most:
            farthest = max(farthest, float(divergence(row, row[:, order]).mean()))
    return moved, farthest


def measure(model: Model, tell: Tell, *, texts: int, permutations: int, most: float, blank: str) -> Outcome:
    """Kendall's tau of weights and effects, and what other orders of the same weights do, by text."""
    classifies(model)
    generator = torch.Generator().manual_seed(0)
    agree, medians, apart = list[float](), list[float](), list[float]()
    for reading in readings(model, own_texts(model), texts, tell):
        tokens = reading.tokens["encoder"]
        words = [at for at, token in enumerate(tokens) if is_word(token)]
        _, row = asked_row(model, reading)
        agree.append(kendall(row.mean(dim=0)[words], effects(model, reading, words, blank)))
        orders = [torch.randperm(len(tokens), generator=generator) for _ in range(permutations)]
        moved, farthest = permuted(model, reading, orders, most)
        medians.append(float(torch.tensor(moved).median()))
        apart.append(farthest)
    if sum(not math.isnan(each) for each in agree) < 2:
        raise ValueError(f"{model.name!r} rates the words of nearly all texts alike; choose another model")
    return _outcome(torch.tensor(agree), torch.tensor(medians), torch.tensor(apart), permutations, most)


def _outcome(agree: Tensor, medians: Tensor, apart: Tensor, permutations: int, most: float) -> Outcome:
    tau, same = float(agree.nanmean()), float((apart >= MOST_APART / 2).float().mean())
    distance = float(apart[apart > 0].mean()) if (apart > 0).any() else 0.0
    bins = torch.linspace(-1, 1, 11)
    counts = torch.histogram(agree[~agree.isnan()].float(), bins).hist
    return Outcome(
        numbers=(
            Number("Kendall's τ of weights and effects", tau, "below 0.5 for most data"),
            Number("spread of τ over texts", float(agree[~agree.isnan()].std())),
            Number("median change of the answer, weights permuted", float(medians.median())),
            Number(f"texts with very different weights that move the answer by ≤ {most:g}", same),
            Number("how far the farthest that do are from the true weights (JS)", distance,
                   f"near {MOST_APART}, the most there is, for many texts"),
        ),
        holds=tau < 0.5 and same >= 0.5,
        said=(
            f"Weights and effects agree with τ = {tau:.2f}. Of {permutations} random orders of the weights, "
            f"one that leaves the answer within {most:g} and is very different (JS {MOST_APART / 2:.2f} or "
            f"more) is found for {percent(same)} of the {len(agree)} texts; the median one moves it "
            f"by {float(medians.median()):.2g}."
        ),
        charts=(
            Chart(
                title="texts by the agreement of weights and effects", x_label="Kendall's τ, from",
                y_label="texts", digits=0,
                x=[f"{low:+z.1f}".replace("-", "−") for low in bins[:-1].tolist()],
                series={"texts": counts.tolist()},
            ),
            Chart(
                title="how far permuted weights move the answer", x_label="texts, in order",
                y_label="total variation, median", x=[float(at) for at in range(1, len(medians) + 1)],
                series={"change": medians.sort().values.tolist()},
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("explanation"),
    model="sentiment",
    fits=lambda sizes: sizes.get("kind") == "encoder-only" and sizes.get("input_channels") is None,
    measure=measure,
    parameters={
        "texts": Field(30, whole(5, 100), "Texts"),
        "permutations": Field(20, whole(1, 100), "Permutations of each"),
        "most": Field(0.01, number(0.001, 0.5), "Same answer: moved by at most"),
        "blank": Field("zero", one_of(BLANKS), "A blank is", control="segments"),
    },
    code=(effects, permuted, divergence, kendall),
)
