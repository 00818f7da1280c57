"""Rotary positions: queries and keys turn like hands of clocks; their product knows the distance only."""

import numpy as np
import torch
from torch import Tensor

from models.engine.positions import rotate
from models.lessons.positions import rotary
from models.lessons.positions.rotary import Turned, added_scores, rotary_scores, speeds
from models.lessons.positions.waves import by_distance
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.positions.inputs import Inputs
from viz_core.boards import Board, Curves, Fact, Facts, Line, Plane, Scrub
from viz_core.labels import decimal, short

D_HEAD = 8
BASE = 10_000
POSITIONS = 61
MOST_DISTANT = 20
SEE = (
    "Rotary positions add nothing to the words: they **turn** each query and key by an angle that grows with "
    "its position, every pair of channels at its own speed. Both turn alike, so the angle between them "
    "depends on their distance alone. **Drag the position: the hands turn, the score stays.**"
)
TRIES = (
    Try("far down the text", {"position": 60}),
    Try("the same position (distance 0)", {"distance": 0}),
    Try("10 words apart", {"distance": 10}),
)


def lesson(inputs: Inputs) -> Lesson:
    q, k = _vectors(inputs.vectors)
    turned = rotary.turn(q, k, torch.arange(POSITIONS) + inputs.distance, inputs.distance, BASE)
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                _planes(turned),
                [_along(q, k, turned, inputs.distance), _across(q, k, inputs.distance), _facts(turned)],
            ],
            notice=_notices(turned, inputs.distance),
            scrub=Scrub(field="position", label="key's position n", values=np.arange(POSITIONS)),
        ),
        formula=(
            r"\mathrm{score}=(R_m\q{q})^{\top}(R_n\k{k})=\q{q}^{\top}R_{n-m}\,\k{k},\qquad "
            r"R_m\ \text{turns pair}\ i\ \text{by}\ m\,\omega_i,\;\omega_i=\mathrm{base}^{-2i/d_{head}}"
        ),
        sizes=rf"d_{{head}}={D_HEAD},\; m-n={inputs.distance},\; \mathrm{{base}}={BASE}",
        shapes=(
            Shape(r"\q{q},\;\k{k}", "channel", (D_HEAD,)),
            Shape(r"R_m\q{q},\;R_n\k{k}", "position, pair, (x, y)", (POSITIONS, D_HEAD // 2, 2)),
            Shape(r"\mathrm{score}", "position", (POSITIONS,)),
        ),
        code=(rotary.turn, rotate, rotary.rotary_scores, rotary.added_scores),
    )


def _vectors(seed: int) -> tuple[Tensor, Tensor]:
    """A random query and key."""
    generator = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, D_HEAD, generator=generator, dtype=torch.float64)
    return q, k


def _planes(turned: Turned) -> list[Plane]:
    reach = 1.1 * max(float(turned.q.norm(dim=-1).max()), float(turned.k.norm(dim=-1).max()))
    return [
        Plane(
            title=f"pair {pair}: {speed:.3g} rad per word",
            vectors=np.stack([turned.q[:, pair].numpy(), turned.k[:, pair].numpy()], axis=1),
            names=("q", "k"),
            colours=("query", "key"),
            reach=reach,
            circle=True,
        )
        for pair, speed in enumerate(speeds(D_HEAD, BASE).tolist())
    ]


def _along(q: Tensor, k: Tensor, turned: Turned, distance: int) -> Curves:
    """The score as both move through the text: rotary, and with waves added instead."""
    added = added_scores(q, k, POSITIONS + distance, BASE).diagonal(-distance)
    return Curves(
        title="move both: the score",
        x=np.arange(POSITIONS, dtype=float),
        lines=[
            Line(y=turned.score.numpy(), name="rotary"),
            Line(y=added.numpy(), name="waves added", colour="muted", dashed=True),
        ],
        x_label="key's position n",
        y_label="score (q · k)",
        at=np.arange(POSITIONS, dtype=float),
    )


def _across(q: Tensor, k: Tensor, distance: int) -> Curves:
    by_distance = rotary_scores(q, k, MOST_DISTANT + 1, BASE)[:, 0]  # the key at position 0
    return Curves(
        title="move one: the score",
        x=np.arange(MOST_DISTANT + 1, dtype=float),
        lines=[Line(y=by_distance.numpy(), name="rotary")],
        x_label="distance m − n",
        y_label="score (q · k)",
        at=np.full(POSITIONS, float(distance)),
    )


def _facts(turned: Turned) -> Facts:
    between = np.degrees(turned.angle.numpy())  # [frame, pair]
    return Facts(
        facts=[
            Fact(label="score", values=turned.score.numpy(), digits=4),
            *(
                Fact(label=f"angle, pair {pair}", values=between[:, pair], digits=1, unit="degrees")
                for pair in range(between.shape[1])
            ),
        ]
    )


def _notices(turned: Turned, distance: int) -> list[str]:
    moved = (turned.score - turned.score[0]).abs()
    return [
        f"Query at {n + distance}, key at {n}: the score is **{decimal(turned.score[n], 4)}**. Since the "
        f"key left position 0 it has changed by **{short(change)}**: only the distance, {distance}, counts."
        for n, change in enumerate(moved.tolist())
    ]


def questions() -> tuple[Question, ...]:
    q, k = _vectors(0)
    scores = rotary_scores(q, k, 64, BASE)
    change = (scores[40, 37] - scores[3, 0]).abs().item()
    a_word = np.degrees(speeds(D_HEAD, BASE).numpy())
    rotary, added = (by_distance(made(q, k, 64, BASE)).spread for made in (rotary_scores, added_scores))
    return (
        Question(
            "The query moves from 3 to 40, the key from 0 to 37. What happens to the score?",
            ("it grows", "it shrinks", "it stays"),
            2 if change < 1e-9 else 0 if scores[40, 37] > scores[3, 0] else 1,
            f"It changes by {short(change)}: both turn by the same angles.",
            told=True,
        ),
        Question(
            "Which pair of channels turns most from one word to the next?",
            ("pair 0", "pair 3", "all alike"),
            0 if a_word[0] > a_word[3] else 1,
            f"Pair 0 turns {a_word[0]:.1f}° per word, pair 3 {a_word[3]:.2f}°.",
        ),
        Question(
            "Add sinusoidal waves to q and k instead. Does the score still depend on the distance only?",
            ("yes, exactly", "no"),
            0 if added < 1e-9 else 1,
            f"Equal distances now differ by up to {added:.1f}; with rotary by {short(rotary)}: "
            "the wave added to q is also multiplied with k, and that of k with q.",
            told=False,
        ),
    )


PART = Part("rotary", "Rotary", ("distance", "vectors"), lesson, TRIES, questions, scrub="position")
