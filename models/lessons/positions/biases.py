"""Biases on the scores: ALiBi's fixed slopes and T5's trained buckets."""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from models.data.tasks.next_word import NextWord
from models.engine import masks
from models.engine.positions import alibi_bias, alibi_slopes, relative_buckets
from models.engine.positions.t5 import RelativeBias
from models.zoo.engine_model import TrainedModel


def alibi_scores(n_heads: int, n_positions: int) -> Float[Tensor, "head query key"]:
    """ALiBi's bias on scores of 0, under a causal mask."""
    bias = alibi_bias(n_heads, n_positions, n_positions)  # [head, query, key]
    later = ~masks.causal(n_positions, n_positions)[0]
    return bias.masked_fill(later, -torch.inf)


def alibi_pattern(n_heads: int, n_positions: int) -> Float[Tensor, "head query key"]:
    """Where each head looks when all words score alike."""
    return alibi_scores(n_heads, n_positions).softmax(dim=-1)


def half_distance(n_heads: int) -> Float[Tensor, " head"]:
    """How many positions back a word's weight is halved by the bias alone: e^(-slope * distance) = 1/2."""
    return math.log(2) / alibi_slopes(n_heads)


def bucket_matrix(n_positions: int, bidirectional: bool) -> Int[Tensor, "query key"]:
    """T5's bucket for each query and key; causal models put all later keys, which are masked, into 0."""
    position = torch.arange(n_positions)
    return relative_buckets(position[:, None] - position, bidirectional)


@torch.no_grad()
def trained_bias(lm: TrainedModel[NextWord], n_distances: int) -> Float[Tensor, "head distance"]:
    """What a T5 model's heads add to the score of a word 0, 1, 2, ... positions back."""
    assert lm.model.decoder is not None and isinstance(lm.model.decoder.positions, RelativeBias)
    table = lm.model.decoder.positions.table.weight  # [bucket, head]
    return table[relative_buckets(torch.arange(n_distances), bidirectional=False)].T


def never_trained(trained_length: int, n_distances: int) -> Bool[Tensor, " distance"]:
    """True for distances whose bucket no training window reached, so that its bias is the initial one."""
    buckets = relative_buckets(torch.arange(n_distances), bidirectional=False)
    return buckets > buckets[trained_length - 1]
