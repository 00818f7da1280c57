"""Rollout, raw weights and weights with norms, against what each token does (Abnar & Zuidema 2020)."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from models.engine.trace import Trace
from models.findings.blanking import BLANKS, asked_of, classifies, effects
from models.findings.declared import Chart, Finding, Number, Outcome, Parameter, Tell
from models.findings.ranks import spearman
from models.findings.texts import is_word, readings, reviews
from models.zoo.model import Model

NAMES = ("raw weights", "rollout", "weights × norms")


def kept(address: str, values: Tensor) -> Tensor | None:
    return values if address.endswith((".self.pattern", ".self.v")) else None


def raw(patterns: Float[Tensor, "layer head query key"]) -> Float[Tensor, "query key"]:
    """The last layer's weights, mean of its heads."""
    return patterns[-1].mean(dim=0)


def rolled(patterns: Float[Tensor, "layer head query key"]) -> Float[Tensor, "query key"]:
    """Rollout: every layer mixes positions by half its mean pattern and half the residual stream."""
    n = patterns.shape[-1]
    found = torch.eye(n)
    for pattern in patterns:
        found = (0.5 * pattern.mean(dim=0) + 0.5 * torch.eye(n)) @ found
    return found


def normed(model: Model, trace: Trace, layer: int) -> Float[Tensor, "query key"]:
    """Length of what each key adds to each query, heads together: weight * v W_O (Kobayashi et al. 2020)."""
    projection = model.projection("encoder.self", layer)
    if projection is None:
        raise ValueError(f"{model.name!r} has no known output projection; choose another model")
    values = trace[f"encoder.{layer}.self.v"]
    values = values.repeat_interleave(projection.shape[0] // values.shape[0], dim=0)  # [head, key, d_head]
    moved = values @ projection  # [head, key, channel]
    return torch.einsum("hqk,hkc->qkc", trace[f"encoder.{layer}.self.pattern"], moved).norm(dim=-1)


def rated(model: Model, trace: Trace) -> list[Float[Tensor, " key"]]:
    """Every key by raw weights, by rollout and by norms, as the position sees it that gives the answer."""
    n_layers = model.attention("encoder.self").n_layers
    patterns = torch.stack([trace[f"encoder.{layer}.self.pattern"] for layer in range(n_layers)])
    ways = (raw(patterns), rolled(patterns), normed(model, trace, n_layers - 1))
    return [asked_of(model, way) for way in ways]


def measure(model: Model, tell: Tell, *, texts: int, blank: str) -> Outcome:
    """Spearman's correlation of each way to rate the words with what blanking them out does, by text."""
    classifies(model)
    found: list[list[float]] = []
    for reading in readings(model, reviews(), texts, tell):
        words = [at for at, token in enumerate(reading.tokens["encoder"]) if is_word(token)]
        done = effects(model, reading, words, blank)
        trace = model.trace(reading, reduce=kept)
        found.append([spearman(way[words], done) for way in rated(model, trace)])
    # Where a way rates all words of a text alike, there is no correlation.
    told = torch.tensor([each for each in found if not any(map(math.isnan, each))])
    if len(told) < 2:
        raise ValueError(f"{model.name!r} rates the words of nearly all reviews alike; choose another model")
    means, spread = told.mean(dim=0).tolist(), told.std(dim=0).tolist()
    weights, roll, norms = means
    return Outcome(
        numbers=(
            Number(label="raw weights of the last layer", value=weights, published="0.29 ± 0.39"),
            Number(label="rollout", value=roll, published="0.71 ± 0.24"),
            Number(label="weights × norms, last layer", value=norms),
            Number(label="spread of rollout over texts", value=spread[1], published="0.24"),
        ),
        holds=roll > weights,
        said=(
            f"Over {len(told)} reviews, the rank correlation with what blanking a word out does is "
            f"{weights:.2f} for raw weights, {roll:.2f} for rollout and {norms:.2f} for weights with norms."
        ),
        charts=(
            Chart(
                title="rank correlation with the true effect", x_label="how words are rated",
                y_label="Spearman's ρ, mean of texts", x=NAMES, series={"ρ": means},
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    name="rollout",
    title="Rollout or raw weights",
    claim=(
        "In high layers, raw attention weights say little of what matters to the answer; rolled out through "
        "all layers they agree with the effect of blanking each word out: rank correlations of 0.29 and "
        "0.71 in the sixth layer, on the number of a verb. Weights alone also leave out how long the "
        "vectors are that they move (Kobayashi et al. 2020)."
    ),
    paper="Abnar & Zuidema 2020, Quantifying Attention Flow in Transformers, table 1",
    rule="rollout correlates better than the raw weights of the last layer",
    caveat=(
        "Measured on praise or blame, not on the number of verbs, and with few layers. Blanking out puts "
        "another embedding in a word's place, which the model never saw in training."
    ),
    model="sentiment",
    needs="an encoder that gives one answer to a text",
    fits=lambda sizes: sizes.get("kind") == "encoder-only" and sizes.get("input_channels") is None,
    measure=measure,
    parameters=(
        Parameter(name="texts", label="Reviews", default=60, low=5, high=200),
        Parameter(name="blank", label="A blank is", default="zero", choices=BLANKS),
    ),
    code=(raw, rolled, normed, effects, spearman),
)
