"""What a mask spares: the pairs of query and key that are left to compute."""

import math
from math import isqrt
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_lab.models.engine import masks
from attention_lab.pages.lab.lesson import Answer, Lesson, Note, part
from attention_lab.pages.lab.masks.inputs import AXES, Inputs
from attention_lab.viz_core.boards import Colour, Curves, Fact, Facts, Line, Matrix, Scrub


class ByLength(NamedTuple):
    """Pairs kept in texts of n tokens; window, strided and fixed with width or stride round(sqrt(n))."""

    n: Int[Tensor, " size"]
    full: Int[Tensor, " size"]
    causal: Int[Tensor, " size"]
    window: Int[Tensor, " size"]
    strided: Int[Tensor, " size"]
    fixed: Int[Tensor, " size"]
    n_sqrt_n: Float[Tensor, " size"]


class ByStride(NamedTuple):
    """The two sparse masks of one text with stride 1, 2, ... and how many pairs each keeps."""

    strided: Bool[Tensor, "stride query key"]
    fixed: Bool[Tensor, "stride query key"]
    strided_kept: Int[Tensor, " stride"]
    fixed_kept: Int[Tensor, " stride"]


def count_pairs(allowed: Tensor) -> int:
    """How many pairs of query and key a mask leaves."""
    return int(allowed.sum())


def by_length(sizes: Int[Tensor, " size"]) -> ByLength:
    """Pairs kept, counted in the masks themselves; Child et al. 2019, 4.3, take a stride close to sqrt(n)."""
    counts = []
    for n in sizes.tolist():
        root = round(math.sqrt(n))
        sparse = (masks.sliding_window(n, root), masks.strided(n, root), masks.fixed(n, root))
        counts.append([n * n, count_pairs(masks.causal(n, n)), *map(count_pairs, sparse)])
    full, causal, window, strided, fixed = torch.tensor(counts).T
    return ByLength(sizes, full, causal, window, strided, fixed, sizes * sizes.double().sqrt())


def by_stride(n: int, most: int) -> ByStride:
    """Strided and fixed attention over n tokens with strides 1 to `most`."""
    strided = torch.cat([masks.strided(n, stride)[0] for stride in range(1, most + 1)])
    fixed = torch.cat([masks.fixed(n, stride)[0] for stride in range(1, most + 1)])
    return ByStride(strided, fixed, strided.sum(dim=(1, 2)), fixed.sum(dim=(1, 2)))


STRIDED: Colour = 1
FIXED: Colour = 2


def lesson(inputs: Inputs) -> Lesson:
    n = inputs.text_length
    strides = np.arange(1, n + 1)
    causal = count_pairs(masks.causal(n, n))
    kept = by_stride(n, n)
    strided, fixed = kept.strided_kept.numpy(), kept.fixed_kept.numpy()
    best = 1 + int(strided.argmin())
    of_lengths = by_length(torch.tensor([2**power for power in range(2, 10)]))
    return Lesson(
        rows=[
            [
                Matrix(values=kept.strided.numpy(), title="strided", scale="mask", picture=True, **AXES),
                Matrix(values=kept.fixed.numpy(), title="fixed", scale="mask", picture=True, **AXES),
                Facts.of(
                    Fact("strided: pairs kept", strided, 0, f"of {causal:,}", STRIDED),
                    Fact("fixed: pairs kept", fixed, 0, f"of {causal:,}", FIXED),
                ),
            ],
            [
                Curves(
                    x=strides, at=strides, x_label="stride l", y_label="pairs kept",
                    y_range=(0, causal * 1.05),
                    lines=[
                        Line(np.full(n, causal), "causal", "muted", dashed=True),
                        Line(strided, "strided", STRIDED),
                        Line(fixed, "fixed", FIXED),
                    ],
                ),
                Curves(
                    x=of_lengths.n.numpy(), log_x=True, log_y=True, x_label="words n, with l = √n",
                    y_label="pairs kept",
                    lines=[
                        Line(of_lengths.full.numpy(), "n²", "muted"),
                        Line(of_lengths.causal.numpy(), "causal"),
                        Line(of_lengths.strided.numpy(), "strided", STRIDED),
                        Line(of_lengths.fixed.numpy(), "fixed", FIXED),
                        Line(of_lengths.n_sqrt_n.numpy(), "n √n", "muted", dashed=True),
                    ],
                ),
            ],
        ],
        notice=[
            f"With stride **{stride}**, strided attention keeps **{pairs:,}** of {causal:,} causal pairs, "
            f"{pairs / causal:.0%}." + " No other stride keeps fewer." * (stride == best)
            for stride, pairs in enumerate(strided.tolist(), start=1)
        ],
        scrub=Scrub("stride", "stride", strides),
        sizes=rf"\k{{j}} \le \q{{i}},\; n = {n},\; \sqrt{{n}} = {isqrt(n)},\; l = 1 \ldots {n}",
        axes={"stride": n, "query": n, "key": n},
        code=[masks.strided, masks.fixed, by_stride, by_length],
    )  # fmt: skip


def questions() -> tuple[Answer, ...]:
    table = by_stride(49, 49)
    best = 1 + int(table.strided_kept.argmin())  # of all strides, not only of those that are offered
    at = {stride: int(table.strided_kept[stride - 1]) for stride in sorted({1, best, 7, 49})}
    grown = by_length(torch.tensor([256, 1024]))
    causal, strided = (int(pairs[1]) / int(pairs[0]) for pairs in (grown.causal, grown.strided))
    times = (4, 8, 16)
    return (
        Answer.of(
            list(at).index(best),
            options=tuple(str(stride) for stride in at),
            each="; ".join(f"stride {stride} keeps {pairs:,}" for stride, pairs in at.items()),
            root=isqrt(49),
        ),
        Answer.of(
            times.index(round(strided)),
            options=tuple(f"{factor} times" for factor in times),
            causal=causal,
            strided=strided,
        ),
    )


SQUARES = Note("Only square numbers, so that √n is a whole stride.")
PART = part(__name__, ("text_length", SQUARES), lesson, questions, scrub="stride")
