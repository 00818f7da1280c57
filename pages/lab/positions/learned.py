"""Learned positions: the vectors that training found for each of 32 places."""

import numpy as np
from torch import Tensor

from pages.lab.lesson import Answer, Lesson, Note, part
from pages.lab.positions import waves
from pages.lab.positions.inputs import Inputs, read, trained
from pages.lab.positions.waves import (
    ByDistance,
    added_vectors,
    alike_within,
    cosines,
    most_alike,
    word_vectors,
)
from viz_core.boards import Curves, Fact, Facts, Line, Matrix, Scrub
from viz_core.labels import decimal, short

NEAR = 3


def lesson(inputs: Inputs) -> Lesson:
    table = waves.added_vectors(trained(inputs.table))  # [position, channel]
    products = waves.dot_products(table)
    distances = waves.by_distance(products)
    likeness = waves.cosines(table)
    n, d = table.shape
    chosen = np.repeat(np.eye(n, dtype=bool)[:, :, None], d, axis=2)  # [frame, position, channel]
    return Lesson(
        rows=[
            [
                _picture("what is added to the words", table, chosen, "channel"),
                _picture("dot products of positions", products, chosen[..., :n], "other position"),
            ],
            [_from_here(products), _by_distance(distances), _facts(likeness, distances.spread)],
        ],
        notice=_notices(likeness, inputs.table),
        scrub=Scrub(field="place", label="position", values=np.arange(n)),
        sizes=rf"n={n}\ \text{{positions}},\; d_{{model}}={d}",
        axes={"position": n, "channel": d, "other": n},
        code=(waves.added_vectors, waves.dot_products, waves.by_distance, waves.cosines, waves.most_alike),
    )


def _picture(title: str, values: Tensor, chosen: np.ndarray, columns: str) -> Matrix:
    n_rows, n_columns = values.shape
    if chosen.shape[-1] < n_columns:  # there are more positions than channels
        chosen = np.repeat(chosen[..., :1], n_columns, axis=2)
    return Matrix(
        title=title,
        values=values.numpy(),
        picture=True,
        rows=[str(p) for p in range(n_rows)],
        columns=[str(c) for c in range(n_columns)],
        row_axis="position",
        column_axis=columns,
        marked=chosen,
    )


def _from_here(products: Tensor) -> Curves:
    n = len(products)
    return Curves(
        title="the chosen position with every other",
        x=np.arange(n, dtype=float),
        lines=[Line(y=products.numpy(), name="dot product")],
        x_label="other position",
        y_label="dot product",
        at=np.arange(n, dtype=float),
    )


def _by_distance(distances: ByDistance) -> Curves:
    return Curves(
        title="all pairs, by distance",
        x=np.arange(len(distances.mean), dtype=float),
        lines=[
            Line(
                y=distances.mean.numpy(),
                name="mean, smallest to largest",
                low=distances.low.numpy(),
                high=distances.high.numpy(),
            )
        ],
        x_label="distance k",
        y_label="dot product",
    )


def _facts(likeness: Tensor, spread: float) -> Facts:
    return Facts(
        facts=[
            Fact(label="most like the chosen one", values=most_alike(likeness).numpy(), digits=0),
            Fact(
                label=f"most like one within {NEAR} places",
                values=f"{alike_within(likeness, NEAR)} of {len(likeness)}",
            ),
            Fact(label="pairs at equal distance differ by up to", values=short(spread)),
        ]
    )


def _notices(likeness: Tensor, table: str) -> list[str]:
    where = "Training made" if table == "learned" else "The waves make"
    return [
        f"{where} position {place} most like position **{other}** (cosine "
        f"{decimal(likeness[place, other])}) and least like **{least}** ({decimal(likeness[place, least])})."
        for place, (other, least) in enumerate(
            zip(most_alike(likeness), likeness.argmin(dim=-1), strict=True)
        )
    ]


def questions() -> tuple[Answer, ...]:
    lm = trained("learned")
    n, near = lm.config.max_len, alike_within(cosines(added_vectors(lm)), NEAR)
    lengths = added_vectors(lm).norm(dim=-1)  # [position]
    ids, _ = read()
    word, place = (each.mean().item() for each in (word_vectors(lm, ids).norm(dim=-1), lengths[: len(ids)]))
    middle = (lengths[n // 2 - 1] + lengths[n // 2]).item() / 2
    wave = added_vectors(trained("sinusoidal")).norm(dim=-1).mean().item()
    at_the_ends = min(lengths[0].item(), lengths[-1].item())
    return (
        Answer.of(
            0 if at_the_ends > 1.1 * middle else 1 if middle > 1.1 * at_the_ends else 2,
            lengths=lengths,
            last=n - 1,
            last_length=lengths[-1],
            middle=middle,
            wave=wave,
            n_near=near,
            near=NEAR,
            n=n,
        ),
        Answer.of(0 if word > 1.1 * place else 1 if place > 1.1 * word else 2, word=word, place=place),
        Answer.of(2 if lm.model.config.max_len == n else 0, n=n, next=n + 1),
    )


PART = part(
    __name__,
    (
        "table",
        Note("Two models of one suite: the same sizes, text, seed and steps; only the positions differ."),
    ),
    lesson,
    questions,
    scrub="place",
)
