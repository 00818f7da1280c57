"""No sink where a head may look at nothing: three models alike but for what makes weights of scores."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..data.tasks import Batch, generator_of
from ..data.tasks.back_copy import VOWELS
from ..engine.trace import Trace
from ..fields import Field, number, whole
from ..zoo import load_model
from ..zoo.engine_model import TrainedModel
from ..zoo.folders import SHIPPED
from .finding import Chart, Film, Finding, Number, Outcome, Tell, words_of
from .sources import run_of, snapshots, validated

NAMES = {"softmax": "softmax", "softmax-plus-one": "softmax plus one", "sigmoid": "sigmoid"}
_EARLY = 4
"""Queries before it see so few tokens that the first has much weight whatever the head does."""
_AS_GOOD = 1.01
"""Times the softmax's loss that a model as good has at most."""


@dataclass(frozen=True)
class OnFirst:
    """Of a model, over held-out texts: the mean weight on the first token from consonants, where nothing is
    of use, and from vowels, which have to look elsewhere; all weight that consonants give; nats a letter.
    """

    idle: float
    busy: float
    given: float
    loss: float


def split(tokens: list[str]) -> tuple[Bool[Tensor, " query"], Bool[Tensor, " query"]]:
    """Which late enough queries are consonants, and which are vowels."""
    vowels = torch.tensor([token in VOWELS for token in tokens])
    late = torch.arange(len(tokens)) >= _EARLY
    return late & ~vowels, late & vowels


def on_first(pattern: Float[Tensor, "head query key"], queries: Bool[Tensor, " query"]) -> float:
    """Mean weight on the first token of some queries, over heads."""
    return float(pattern[:, queries, 0].mean())


def weights_of(lm: TrainedModel[Any], texts: int) -> OnFirst:
    """What a model does with held-out texts."""
    batch: Batch = lm.task.batch(generator_of(1, 0), texts, held_out=True)
    sums: list[tuple[float, float, float]] = []
    for row in range(texts):
        trace, ids = Trace(), batch.inputs[0][row : row + 1]
        with torch.no_grad():
            lm.model(ids, trace=trace)
        pattern = trace["decoder.0.self.pattern"]
        idle, busy = split([lm.outputs[at] for at in ids[0].tolist()])
        sums.append(
            (on_first(pattern, idle), on_first(pattern, busy), float(pattern[:, idle].sum(-1).mean()))
        )
    means = torch.tensor(sums, dtype=torch.float64).nanmean(dim=0).tolist()  # a text may have no late vowel
    with torch.no_grad():
        return OnFirst(*means, loss=float(lm.task.losses(lm.model, batch)["loss"]))


def compared(names: Iterable[str], texts: int, tell: Tell) -> list[OnFirst]:
    """Measures shipped models of the family on the same held-out texts."""
    found = []
    for at, name in enumerate(names := list(names)):
        found.append(weights_of(load_model(SHIPPED / "sinks" / name), texts))
        tell((at + 1) / len(names))
    return found


def measure(model: None, tell: Tell, *, texts: int, sink: float) -> Outcome:
    """The three shipped models; how the weight on the first grew is from their runs' snapshots."""
    return _outcome(dict(zip(NAMES, compared(NAMES, texts, tell), strict=True)), sink)


def _outcome(by_model: dict[str, OnFirst], sink: float) -> Outcome:
    softmax, plus_one, sigmoid = by_model.values()
    runs = {name: run_of(f"sinks/{normalizer}") for normalizer, name in NAMES.items()}
    losses: dict[str, Sequence[int | float]] = {}
    weights: dict[str, Sequence[int | float]] = {}  # on the first token of the text that was watched
    patterns: dict[str, list[Tensor]] = {}  # of that text, a snapshot each
    for name, run in runs.items():
        losses[name] = [scores["loss"] for scores in validated(run)[1]]
        idle, _ = split(run.probe()["tokens"]["decoder"])
        steps, kept = snapshots(run)
        patterns[name] = [each["decoder.0.self.pattern"] for each in kept]
        weights[name] = [on_first(each, idle) for each in patterns[name]]
    return Outcome(
        numbers=tuple(
            number
            for name, each in by_model.items()
            for number in (
                Number(f"{NAMES[name]}: weight on the first, from consonants", each.idle),
                Number(f"{NAMES[name]}: held-out loss, nats a letter", each.loss, digits=3),
            )
        ),
        holds=softmax.idle >= sink > sigmoid.idle and sigmoid.loss <= _AS_GOOD * softmax.loss,
        said=(
            f"Consonants need no earlier letter: the softmax puts {softmax.idle:.2f} on the first token "
            f"there, {softmax.busy:.2f} from vowels, which copy. The softmax plus one puts "
            f"{plus_one.idle:.2f} there from consonants, the sigmoid {sigmoid.idle:.2f}; their weights add "
            f"up to {plus_one.given:.2f} and {sigmoid.given:.2f}, the softmax's to 1."
        ),
        charts=(
            Chart(
                title="weight on the first, from the consonants of one text", x_label="step",
                y_label="weight", x=steps, series=weights, line=(sink, "a sink"),
            ),
            Chart(
                title=f"held-out loss, of {runs['softmax'].config().training.held_out} texts",
                x_label="step", y_label="nats a letter", x=validated(runs["softmax"])[0], series=losses,
            ),
        ),
        film=Film(
            title="softmax, its head on that text", steps=tuple(steps),
            tokens=tuple(runs["softmax"].probe()["tokens"]["decoder"]),
            patterns=torch.stack([each[0] for each in patterns["softmax"]]),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("no-sink"),
    measure=measure,
    parameters={
        "texts": Field(64, whole(4, 256), "Held-out texts"),
        "sink": Field(0.3, number(0.05, 0.95), "A sink has, at least"),
    },
    code=(split, on_first, weights_of),
)
