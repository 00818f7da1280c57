"""Heads that share keys ask alike: a translator whose four heads share two heads of keys."""

from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy import stats
from torch import Tensor

from ..data.grammar.pairs import held_out
from ..fields import Field, number, whole
from ..zoo.engine_model import TrainedModel
from ..zoo.families import FAMILIES
from ..zoo.others.families import load
from .finding import Chart, Finding, Number, Outcome, Tell, words_of

STACKS = {
    ("encoder", "self"): "encoder", ("decoder", "self"): "decoder", ("decoder", "cross"): "cross-attention",
}  # fmt: skip
SHARED = ((0, 1), (2, 3))
"""The heads that share keys, where four heads have two of them."""


def apart(pattern: Float[Tensor, "head query key"], i: int, j: int) -> float:
    """How far apart two heads' weights are: half their absolute difference, a mean over queries, 0 to 1."""
    return float((pattern[i] - pattern[j]).abs().sum(dim=-1).mean() / 2)


def between_heads(
    lm: TrainedModel[Any], sentences: int, tell: Tell
) -> Float[np.ndarray, "sentence stack shared"]:
    """Of each sentence and stack, how far apart the pairs of heads are on average over the layers: those that
    share keys where keys are shared, and the other pairs.
    """
    others = [pair for pair in combinations(range(lm.config.n_heads), 2) if pair not in SHARED]
    found = []
    for at, (pair, direction) in enumerate(examples := held_out(sentences)):
        trace = lm.trace(" ".join(pair.source(direction)), direction=direction)
        layers = range(lm.config.n_layers)
        found.append(
            [
                [
                    np.mean([
                        apart(trace[f"{side}.{layer}.{kind}.pattern"], *heads)
                        for layer in layers for heads in pairs
                    ])
                    for pairs in (SHARED, others)
                ]
                for side, kind in STACKS
            ]
        )  # fmt: skip
        tell((at + 1) / len(examples) / 2)
    return np.array(found)


def measure(model: None, tell: Tell, *, sentences: int, share: float) -> Outcome:
    """The family's model with two heads of keys, and the one with four, on the same held-out sentences."""
    family = FAMILIES["translator-sizes"]
    shared = between_heads(load(family, **{**family.first, "n_kv_heads": 2}), sentences, tell)
    plain = between_heads(load(family, **family.first), sentences, lambda done: tell(0.5 + done))
    gaps = (shared[..., 1] - shared[..., 0]).mean(axis=1)  # [sentence]
    half = float(stats.t.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / len(gaps) ** 0.5)
    near, far = shared.mean(axis=(0, 1)).tolist()
    own_near, own_far = plain.mean(axis=(0, 1)).tolist()
    return Outcome(
        numbers=(
            Number("two heads of keys: apart, of those that share", near),
            Number("two heads of keys: apart, of the others", far),
            Number("difference, over sentences", float(gaps.mean())),
            Number("± (95%)", half),
            Number("four heads of keys: apart, the same pairs", own_near),
            Number("four heads of keys: apart, of the others", own_far),
        ),
        holds=bool(near <= share * far and gaps.mean() > half and near / far < own_near / own_far),
        said=(
            f"Two heads that share keys are {near:.2f} apart, two that do not {far:.2f}. In the model whose "
            f"heads all have keys of their own, the same pairs are {own_near:.2f} and {own_far:.2f} apart."
        ),
        charts=(
            Chart(
                title="how far apart two heads are", x_label="heads", y_label="0: alike, 1: no key in common",
                x=[f"{name}, {which}" for name in STACKS.values() for which in ("sharing", "others")],
                series={"apart": [float(each) for each in shared.mean(axis=0).flatten()]},
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("shared-keys"),
    measure=measure,
    parameters={
        "sentences": Field(100, whole(4, 1_000), "Held-out sentences"),
        "share": Field(0.9, number(0.05, 0.99), "As far apart, at most"),
    },
    code=(apart, between_heads),
)
