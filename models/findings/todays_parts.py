"""Norms keep scores small: two models of the same letters, of the parts of 2019 and of today."""

from collections.abc import Iterator
from typing import Any

from jaxtyping import Float
from torch import Tensor

from ..fields import Field, number
from ..zoo import load_model
from ..zoo.engine_model import TrainedModel
from ..zoo.folders import CARD, SHIPPED, read_card
from .finding import Chart, Finding, Number, Outcome, Tell, words_of

NAMES = {"shakespeare": "2019's parts", "shakespeare-today": "today's parts"}
_EARLY = 3
"""Queries before it see so few letters that a letter back has much weight whatever the head does."""


def largest(scores: Float[Tensor, "head query key"]) -> float:
    """The largest score without its sign, among those that no mask hides."""
    return float(scores[scores.isfinite()].abs().max())


def one_back(pattern: Float[Tensor, "head query key"]) -> list[float]:
    """Averages, for each head, the weight on the letter before over the later queries."""
    before = pattern.diagonal(offset=-1, dim1=1, dim2=2)  # [head, query]
    return before[:, _EARLY:].mean(dim=-1).tolist()


def measured(lm: TrainedModel[Any], texts: list[str]) -> tuple[list[float], float]:
    """The largest score in each layer, and what the head gives the letter before that gives it most."""
    traces = [lm.trace(text) for text in texts]
    layers = range(lm.config.n_layers)
    most = [max(largest(trace[f"decoder.{at}.self.scores"]) for trace in traces) for at in layers]
    heads = [
        [one_back(trace[f"decoder.{at}.self.pattern"]) for trace in traces] for at in layers
    ]  # [layer][text][head]
    means = [sum(of_text) / len(traces) for layer in heads for of_text in zip(*layer, strict=True)]
    return most, max(means)


def measure(model: None, tell: Tell, *, share: float) -> Outcome:
    """Both shipped models on the texts that the older one is offered with."""
    cards = {name: read_card(SHIPPED / name / CARD) for name in NAMES}
    texts = [each["text"] for each in cards["shakespeare"]["examples"]]
    found = {}
    for at, name in enumerate(NAMES):
        found[name] = measured(load_model(name), texts)
        tell((at + 1) / len(NAMES))
    losses = {name: float(card["metrics"]["loss"]) for name, card in cards.items()}
    (old, old_back), (new, new_back) = found.values()
    before, after = losses.values()

    def numbers() -> Iterator[Number]:
        for name, title in NAMES.items():
            yield Number(f"{title}: largest score", max(found[name][0]), digits=1)
            yield Number(f"{title}: held-out loss, nats a letter", losses[name], digits=3)
            yield Number(f"{title}: weight on the letter before, best head", found[name][1])

    return Outcome(
        numbers=tuple(numbers()),
        holds=max(new) <= share * max(old) and after <= before,
        said=(
            f"The largest score is {max(old):.1f} in the older model and {max(new):.1f} in the newer one, "
            f"whose loss is {after:.2f} nats a letter, not {before:.2f}. "
            f"The best head gives the letter before {old_back:.2f} in one and {new_back:.2f} in the other."
        ),
        charts=(
            Chart(
                title="largest score of a layer", x_label="model and layer",
                y_label="score, without its sign",
                x=[f"{title}, {at}" for title in NAMES.values() for at in range(len(old))],
                series={"score": [*old, *new]}, digits=1,
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("todays-parts"),
    measure=measure,
    parameters={"share": Field(0.5, number(0.05, 0.99), "As large, at most")},
    code=(largest, one_back, measured),
)
