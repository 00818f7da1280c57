"""ALiBi: a key loses score with its distance, in each head at another rate."""

import math
from typing import Any

import numpy as np

from models.engine import positions
from models.engine.positions import alibi_bias
from models.lessons.positions import biases
from models.lessons.positions.biases import alibi_pattern, alibi_scores
from pages.lab.lesson import Lesson, Shape
from pages.lab.positions.inputs import Inputs
from pages.lab.positions.per_head import N_DISTANCES, per_head
from viz_core.boards import Board, Curves, Fact, Facts, Matrix, Panel, Scrub

N_WORDS = 10
SEE = (
    "The simplest way to tell near words from far ones is to subtract something from the score for every "
    "word of **distance**. Each head has its own slope, so some heads see only near words and others nearly "
    "all of them. Nothing is trained, and texts may be of any length. **Drag the head.**"
)


def lesson(inputs: Inputs) -> Lesson:
    h = inputs.heads
    slopes = positions.alibi_slopes(h)
    halves = biases.half_distance(h)
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                _alibi_matrices(h),
                [
                    _alibi_curves(h),
                    Facts(
                        facts=[
                            Fact(label="slope", values=slopes.numpy(), digits=4, unit="a word"),
                            Fact(label="weight halves every", values=halves.numpy(), digits=1, unit="words"),
                        ]
                    ),
                ],
            ],
            notice=[
                f"Head {head} subtracts **{slope:.4g}** from a score for every word of distance: where "
                f"scores are equal, a word **{half:.1f} words** further back gets half the weight."
                for head, (slope, half) in enumerate(zip(slopes.tolist(), halves.tolist(), strict=True))
            ],
            scrub=Scrub(field="head", label="head", values=np.arange(h)),
        ),
        formula=(
            r"\begin{gathered}\mathrm{scores}=\frac{\q{Q}\k{K}^{\top}}{\sqrt{d_{head}}}"
            r"-m_h\,\lvert i-j\rvert\\" + _slopes_formula(h) + r"\end{gathered}"
        ),
        sizes=rf"n={h}\ \text{{heads}},\; {N_WORDS}\ \text{{words}}",
        shapes=(
            Shape("m", "head", (h,)),
            Shape(r"-m_h\,\lvert i-j\rvert", "head, query, key", (h, N_WORDS, N_WORDS)),
            Shape(r"\mathrm{pattern}", "head, query, key", (h, N_WORDS, N_WORDS)),
        ),
        code=(
            positions.alibi_slopes,
            positions.alibi_bias,
            biases.alibi_scores,
            biases.alibi_pattern,
            biases.half_distance,
        ),
    )


def _slopes_formula(n_heads: int) -> str:
    """The rule that `alibi_slopes` follows, for this number of heads."""
    below = 2 ** int(math.log2(n_heads))
    if below == n_heads:
        return rf"m_h=2^{{-8(h+1)/{n_heads}}},\quad h=0\ldots{n_heads - 1}"
    return (
        rf"m_h=2^{{-8(h+1)/{below}}},\quad h=0\ldots{below - 1}\quad"
        rf"({below}\text{{ is the power of 2 below }}{n_heads})\\"
        rf"m_h=2^{{-8(h-{below}+1/2)/{below}}},\quad h={below}\ldots{n_heads - 1}\quad"
        rf"(\text{{every other slope of }}{2 * below}\text{{ heads}})"
    )


def _alibi_matrices(n_heads: int) -> list[Panel]:
    names = [str(word) for word in range(N_WORDS)]
    cells: Any = {"rows": names, "columns": names, "row_axis": "query", "column_axis": "key"}
    bias, pattern = (made(n_heads, N_WORDS).numpy() for made in (alibi_scores, alibi_pattern))
    return [
        Matrix(title="bias (the mask hides later words)", values=bias, reach=float(N_WORDS - 1) / 2, **cells),
        Matrix(title="pattern, if all scores are equal", values=pattern, scale="weights", **cells),
    ]


def _alibi_curves(n_heads: int) -> Curves:
    """Every head's bias against distance; the chosen one is drawn over them."""
    last = alibi_bias(n_heads, 1, N_DISTANCES)[:, 0].flip(-1).numpy()  # [head, distance]
    return per_head("bias by distance, all heads", last, "added to the score", y_range=(-8.0, 0.2))
