"""Learned positions: the vectors that training found for each of 32 places."""

import numpy as np
from torch import Tensor

from attention_lab.pages.lab.lesson import Answer, Lesson, Note, part
from attention_lab.pages.lab.positions import waves
from attention_lab.pages.lab.positions.inputs import SENTENCE, Inputs, read, trained
from attention_lab.pages.lab.positions.waves import (
    added_vectors,
    alike_within,
    cosines,
    most_alike,
    word_vectors,
)
from attention_lab.viz_core.boards import Curves, Fact, Facts, Line, Matrix, Scrub
from attention_lab.viz_core.labels import decimal, short

NEAR = 3


def lesson(inputs: Inputs) -> Lesson:
    table = waves.added_vectors(trained(inputs.table))  # [position, channel]
    products, likeness = waves.dot_products(table), waves.cosines(table)
    distances, alike = waves.by_distance(products), most_alike(likeness)
    n, d = table.shape
    x = np.arange(n, dtype=float)
    where = "Training made" if inputs.table == "learned" else "The waves make"
    return Lesson(
        rows=[
            [
                _picture("what is added to the words", table, "channel"),
                _picture("dot products of positions", products, "other position"),
                Facts.of(
                    Fact("most like the chosen one", alike.numpy(), 0),
                    Fact(f"most like one within {NEAR} places", f"{alike_within(likeness, NEAR)} of {n}"),
                    Fact("pairs at equal distance differ by up to", short(distances.spread)),
                ),
            ],
            [
                Curves(
                    title="how alike the chosen position and every other are", x=x, at=x,
                    x_label="other position", y_label="cosine", lines=[Line(likeness.numpy(), "cosine")],
                ),
                Curves(
                    title="all pairs, by distance", x=x, x_label="distance k", y_label="dot product",
                    lines=[
                        Line(
                            distances.mean.numpy(), "mean, smallest to largest", low=distances.low.numpy(),
                            high=distances.high.numpy(),
                        )
                    ],
                ),
            ],
        ],
        notice=[
            f"{where} position {place} most like **{other}** (cosine {decimal(likeness[place, other])}) and "
            f"least like **{least}** ({decimal(likeness[place, least])})."
            for place, (other, least) in enumerate(zip(alike, likeness.argmin(dim=-1), strict=True))
        ],
        scrub=Scrub("place", "position", np.arange(n)),
        sizes=rf"n={n}\ \text{{positions}},\; d_{{model}}={d}",
        axes={"position": n, "channel": d, "other": n},
        code=(waves.added_vectors, waves.dot_products, waves.by_distance, waves.cosines, waves.most_alike),
    )  # fmt: skip


def _picture(title: str, values: Tensor, columns: str) -> Matrix:
    """Each frame's position is marked."""
    n_rows, n_columns = values.shape
    chosen = np.repeat(np.eye(n_rows, dtype=bool)[:, :, None], n_columns, axis=2)  # [frame, position, column]
    return Matrix(
        title=title, values=values.numpy(), picture=True, marked=chosen,
        rows=[str(p) for p in range(n_rows)], row_axis="position",
        columns=[str(c) for c in range(n_columns)], column_axis=columns,
    )  # fmt: skip


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
        Answer.of(
            0 if word > 1.1 * place else 1 if place > 1.1 * word else 2,
            word=word,
            place=place,
            sentence=SENTENCE,
        ),
        Answer.of(2 if lm.model.config.max_len == n else 0, n=n, next=n + 1),
    )


SUITE = Note("The same sizes, text, seed and steps.")
PART = part(__name__, ("table", SUITE), lesson, questions, scrub="place")
