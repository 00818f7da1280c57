"""Rotary positions: queries and keys turn with their place; their product knows nothing but the distance."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Real
from torch import Tensor

from attention_lab.models.engine.position_scheme import angles
from attention_lab.models.engine.positions import rotate, sinusoids
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.pages.lab.positions.inputs import Inputs
from attention_lab.pages.lab.positions.waves import by_distance
from attention_lab.viz_core.boards import Curves, Fact, Facts, Line, Plane, Scrub
from attention_lab.viz_core.labels import decimal, short


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


D_HEAD = 8
BASE = 10_000
POSITIONS = 61
MOST_DISTANT = 20


def lesson(inputs: Inputs) -> Lesson:
    (q, k), distance = _vectors(inputs.vectors), inputs.distance
    turned = turn(q, k, torch.arange(POSITIONS) + distance, distance, BASE)
    added = added_scores(q, k, POSITIONS + distance, BASE).diagonal(-distance)
    apart = rotary_scores(q, k, MOST_DISTANT + 1, BASE)[:, 0]  # the key at position 0
    longest = max(vectors.norm(dim=-1).max().item() for vectors in (turned.q, turned.k))
    x = np.arange(POSITIONS, dtype=float)
    between = np.degrees(turned.angle.numpy())  # [frame, pair]
    moved = (turned.score - turned.score[0]).abs().tolist()
    return Lesson(
        rows=[
            [
                Plane(
                    title=f"pair {pair}: {speed:.3g} rad per word",
                    vectors=torch.stack([turned.q[:, pair], turned.k[:, pair]], dim=1).numpy(),
                    names=("q", "k"), colours=("query", "key"), reach=1.1 * longest, circle=True,
                )
                for pair, speed in enumerate(speeds(D_HEAD, BASE).tolist())
            ],
            [
                Curves(
                    title="move both: the score", x=x, at=x, x_label="key's position n",
                    y_label="score (q · k)",
                    lines=[
                        Line(turned.score.numpy(), "rotary"),
                        Line(added.numpy(), "waves added", "muted", dashed=True),
                    ],
                ),
                Curves(
                    title="move one: the score", x=np.arange(MOST_DISTANT + 1, dtype=float),
                    at=np.full(POSITIONS, float(distance)), x_label="distance m − n",
                    y_label="score (q · k)", lines=[Line(apart.numpy(), "rotary")],
                ),
                Facts.of(
                    Fact("score", turned.score.numpy(), 4),
                    *(Fact(f"angle, pair {pair}", each, 1, "degrees") for pair, each in enumerate(between.T)),
                ),
            ],
        ],
        notice=[
            f"Query at {n + distance}, key at {n}: score **{decimal(turned.score[n], 4)}**. From position 0 "
            f"it changed by **{short(change)}**: only distance counts."
            for n, change in enumerate(moved)
        ],
        scrub=Scrub("position", "key's position n", np.arange(POSITIONS)),
        sizes=rf"d_{{head}}={D_HEAD},\; m-n={distance},\; \mathrm{{base}}={BASE}",
        axes={"channel": D_HEAD, "position": POSITIONS, "pair": D_HEAD // 2, "(x, y)": 2},
        code=(turn, rotate, rotary_scores, added_scores),
    )  # fmt: skip


def _vectors(seed: int) -> tuple[Tensor, Tensor]:
    """A random query and key."""
    generator = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, D_HEAD, generator=generator, dtype=torch.float64)
    return q, k


def questions() -> tuple[Answer, ...]:
    q, k = _vectors(0)
    scores = rotary_scores(q, k, 64, BASE)
    change = (scores[40, 37] - scores[3, 0]).abs().item()
    a_word = np.degrees(speeds(D_HEAD, BASE).numpy())
    rotary, added = (by_distance(rule(q, k, 64, BASE)).spread for rule in (rotary_scores, added_scores))
    return (
        Answer.of(2 if change < 1e-9 else 0 if scores[40, 37] > scores[3, 0] else 1, change=change),
        Answer.of(0 if a_word[0] > a_word[3] else 1, a_word=a_word),
        Answer.of(0 if added < 1e-9 else 1, added=added, rotary=rotary),
    )


PART = part(__name__, ("distance", "vectors"), lesson, questions, scrub="position")
