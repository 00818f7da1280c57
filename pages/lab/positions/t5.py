"""T5's relative bias: what training found each bucket of distances to be worth."""

import numpy as np
import torch
from torch import Tensor

from models.engine.positions import relative_buckets
from models.lessons.positions import biases
from models.lessons.positions.biases import bucket_matrix
from pages.lab.lesson import Lesson, Shape
from pages.lab.positions.inputs import Inputs
from pages.lab.positions.per_head import N_DISTANCES, per_head
from pages.lab.positions.suite import trained
from viz_core.boards import Board, Curves, Fact, Facts, Line, Matrix, Scrub
from viz_core.labels import decimal

N_WORDS = 48
SEE = (
    "Training finds what each distance is worth: one number for each head and **bucket** of distances. Near "
    "distances have a bucket of their own; far ones share one. These are the numbers of a trained model that "
    "never saw more than 32 words. **Drag the head.**"
)


def lesson(_: Inputs) -> Lesson:
    lm = trained("t5")
    bias = biases.trained_bias(lm, N_DISTANCES)  # [head, distance]
    unseen = biases.never_trained(lm.task.length, N_DISTANCES)
    first = int(unseen.int().argmax())
    h = len(bias)
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                [_buckets(), _bucket_of_distance()],
                [
                    per_head("trained bias by distance, all heads", bias.numpy(), "added to the score"),
                    Facts(
                        facts=[
                            Fact(label="at distance 1", values=bias[:, 1].numpy()),
                            Fact(
                                label=f"at distance {lm.task.length - 1}",
                                values=bias[:, lm.task.length - 1].numpy(),
                            ),
                            Fact(label="never trained", values=f"distances from {first}"),
                        ]
                    ),
                ],
            ],
            notice=_notices(bias, first),
            scrub=Scrub(field="head", label="head", values=np.arange(h)),
        ),
        formula=(
            r"\mathrm{scores}=\frac{\q{Q}\k{K}^{\top}}{\sqrt{d_{head}}}+b_{h,\,\mathrm{bucket}(i-j)},\qquad "
            r"b\ \text{trained}"
        ),
        sizes=rf"n={h}\ \text{{heads}},\; 32\ \text{{buckets}}",
        shapes=(
            Shape("b", "bucket, head", (32, h)),
            Shape(r"\mathrm{bucket}(i-j)", "query, key", (N_WORDS, N_WORDS)),
        ),
        code=(relative_buckets, biases.bucket_matrix, biases.trained_bias, biases.never_trained),
    )


def _buckets() -> Matrix:
    names = [str(word) for word in range(N_WORDS)]
    return Matrix(
        title="bucket of each query and key",
        values=bucket_matrix(N_WORDS, bidirectional=False).numpy().astype(np.float32),
        rows=names,
        columns=names,
        row_axis="query",
        column_axis="key",
        picture=True,
        digits=0,
        reach=32.0,
    )


def _bucket_of_distance() -> Curves:
    distances = torch.arange(N_DISTANCES + 20)
    buckets = relative_buckets(distances, bidirectional=False).numpy().astype(np.float32)
    return Curves(
        title="bucket by distance: exact, then logarithmic",
        x=distances.numpy().astype(float),
        lines=[Line(y=buckets, name="bucket")],
        x_label="distance (words back)",
        y_label="bucket",
    )


def _notices(bias: Tensor, first: int) -> list[str]:
    strongest = bias[:, :first].argmax(dim=-1).tolist()
    return [
        f"Head {head} learned to prefer words **{best} back** (bias {decimal(bias[head, best])}). No "
        f"training text reached the buckets from distance **{first}** on, so their numbers are still random."
        for head, best in enumerate(strongest)
    ]
