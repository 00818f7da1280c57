"""The order in which data flows through an encoder-decoder, and what is looked at on the way."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.engine.trace import Trace

Chances = Float[Tensor, "step n"]
Stage = Literal["embed", "self", "cross", "ff", "memory", "linear", "softmax", "word"]


class Moment(NamedTuple):
    """Where the data is: in the encoder (step None), or at a step of the decoder, and in which part of it."""

    step: int | None
    stage: Stage
    layer: int | None = None


def moments(n_layers: int, n_steps: int) -> list[Moment]:
    """The encoder once, then the decoder once for every word (Vaswani et al. 2017, figure 1)."""
    layers = range(n_layers)
    encoder = [Moment(None, stage, layer) for layer in layers for stage in ("self", "ff")]
    found = [Moment(None, "embed"), *encoder, Moment(None, "memory")]
    for step in range(n_steps):
        decoder = [Moment(step, stage, layer) for layer in layers for stage in ("self", "cross", "ff")]
        found += [Moment(step, "embed"), *decoder]
        found += [Moment(step, "linear"), Moment(step, "softmax"), Moment(step, "word")]
    return found


def looks(trace: Trace, moment: Moment) -> Float[Tensor, "head key"]:
    """Each head's weights from the step's last word; in the encoder, the mean of all rows."""
    if moment.step is None:
        pattern: Tensor = trace[f"encoder.{moment.layer}.self.pattern"]
        return pattern.mean(dim=1)
    pattern = trace[f"decoder.{moment.layer}.{moment.stage}.pattern"]
    keys = pattern.shape[2] if moment.stage == "cross" else moment.step + 1
    return pattern[:, moment.step, :keys]


def crossed(trace: Trace, n_layers: int, step: int) -> Float[Tensor, "layer head source"]:
    """The cross-attention of one step, of all layers."""
    rows = [trace[f"decoder.{layer}.cross.pattern"][:, step] for layer in range(n_layers)]
    return torch.stack(rows)


def likeliest(logits: Float[Tensor, "step vocab"], n: int) -> tuple[Int[Tensor, "step n"], Chances]:
    """The `n` likeliest words of every step, the likeliest first, and their probabilities."""
    words = logits.topk(n).indices
    return words, logits.softmax(dim=-1).gather(1, words)
