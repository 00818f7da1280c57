"""Rotary positions: queries and keys turn with their place; their product knows nothing but the distance."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Real
from torch import Tensor

from models.engine.positions import rotate, sinusoids
from models.engine.positions.sinusoidal import angles


class Turned(NamedTuple):
    """A query and a key as they enter the dot product, for each position of the query.

    q, k: pairs of channels as points in the plane. angle: from k to q in each pair, radians in -pi..pi.
    """

    q: Float[Tensor, "frame pair xy"]
    k: Float[Tensor, "frame pair xy"]
    angle: Float[Tensor, "frame pair"]
    score: Float[Tensor, " frame"]


def speeds(d_head: int, base: int | float) -> Float[Tensor, " pair"]:
    """By how much each pair of channels turns from one position to the next, in radians."""
    return angles(torch.tensor([1]), d_head, base)[0]


def turn(
    q: Float[Tensor, " d_head"],
    k: Float[Tensor, " d_head"],
    positions: Real[Tensor, " frame"],
    distance: int,
    base: int | float,
) -> Turned:
    """The same query at each position, its key `distance` before it (Su et al. 2021, equations 14 to 16)."""
    pairs = (len(q) // 2, 2)
    q_at = rotate(q.expand(len(positions), -1), positions, base)  # [frame, d_head]
    k_at = rotate(k.expand(len(positions), -1), positions - distance, base)
    score = (q_at * k_at).sum(dim=-1)
    q_pairs, k_pairs = q_at.unflatten(-1, pairs), k_at.unflatten(-1, pairs)  # [frame, pair, xy]
    along = (q_pairs * k_pairs).sum(dim=-1)
    across = k_pairs[..., 0] * q_pairs[..., 1] - k_pairs[..., 1] * q_pairs[..., 0]
    return Turned(q_pairs, k_pairs, torch.atan2(across, along), score)


def rotary_scores(
    q: Float[Tensor, " d_head"], k: Float[Tensor, " d_head"], n_positions: int, base: int | float
) -> Float[Tensor, "query key"]:
    """Scores of one query at every position with one key at every position, both turned."""
    positions = torch.arange(n_positions)
    q_at = rotate(q.expand(n_positions, -1), positions, base)  # [query, d_head]
    k_at = rotate(k.expand(n_positions, -1), positions, base)  # [key, d_head]
    return q_at @ k_at.mT


def added_scores(
    q: Float[Tensor, " d_head"], k: Float[Tensor, " d_head"], n_positions: int, base: int | float
) -> Float[Tensor, "query key"]:
    """The same for waves that are added: (q + PE(m)) . (k + PE(n)) knows more than the distance m - n."""
    waves = sinusoids(n_positions, len(q), base).to(q)
    return (q + waves) @ (k + waves).mT
