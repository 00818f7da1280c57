"""What a mask spares: the pairs of query and key that are left to compute."""

import math
from math import isqrt
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from models.engine import masks
from pages.lab.lesson import Answer, Lesson, Note, part
from pages.lab.masks.inputs import AXES, Inputs
from viz_core.boards import Colour, Curves, Fact, Facts, Line, Matrix, Scrub


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
    full, causal, window, strided, fixed = torch.tensor([_counts(n) for n in sizes.tolist()]).T
    return ByLength(sizes, full, causal, window, strided, fixed, sizes * sizes.double().sqrt())


def _counts(n: int) -> list[int]:
    root = round(math.sqrt(n))
    sparse = (masks.sliding_window(n, root), masks.strided(n, root), masks.fixed(n, root))
    return [n * n, count_pairs(masks.causal(n, n)), *map(count_pairs, sparse)]


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
    of_strides = by_stride(n, n)
    of_lengths = by_length(torch.tensor([2**power for power in range(2, 10)]))
    return Lesson(
        rows=_rows(n, causal, of_strides, of_lengths),
        notice=_notices(causal, of_strides),
        scrub=Scrub(field="stride", label="stride", values=strides),
        sizes=rf"\k{{j}} \le \q{{i}},\; n = {n},\; \sqrt{{n}} = {isqrt(n)},\; l = 1 \ldots {n}",
        axes={"stride": n, "query": of_strides.fixed.shape[1], "key": of_strides.fixed.shape[2]},
        code=[masks.strided, masks.fixed, by_stride, by_length],
    )


def _rows(
    n: int, causal: int, of_strides: ByStride, of_lengths: ByLength
) -> list[list[Matrix | Facts | Curves]]:
    strides = np.arange(1, n + 1)
    strided, fixed = (pairs.numpy() for pairs in (of_strides.strided_kept, of_strides.fixed_kept))
    patterns = {"strided": of_strides.strided, "fixed": of_strides.fixed}
    pictures = [
        Matrix(values=pairs.numpy(), title=name, scale="mask", picture=True, **AXES)
        for name, pairs in patterns.items()
    ]
    facts = [
        Fact(label=f"{name}: pairs kept", values=pairs, digits=0, unit=f"of {causal:,}", colour=colour)
        for name, pairs, colour in (("strided", strided, STRIDED), ("fixed", fixed, FIXED))
    ]
    grown = [
        Line(y=getattr(of_lengths, field).numpy(), name=name, colour=colour, dashed=field == "n_sqrt_n")
        for field, name, colour in (
            ("full", "n²", "muted"), ("causal", "causal", "accent"), ("strided", "strided", STRIDED),
            ("fixed", "fixed", FIXED), ("n_sqrt_n", "n √n", "muted"),
        )
    ]  # fmt: skip
    return [
        [*pictures, Facts(facts=facts)],
        [
            Curves(
                x=strides, at=strides, x_label="stride l", y_label="pairs kept", y_range=(0, causal * 1.05),
                lines=[
                    Line(y=np.full(n, causal), name="causal", colour="muted", dashed=True),
                    Line(y=strided, name="strided", colour=STRIDED),
                    Line(y=fixed, name="fixed", colour=FIXED),
                ],
            ),
            Curves(
                x=of_lengths.n.numpy(), lines=grown, log_x=True, log_y=True, x_label="words n, with l = √n",
                y_label="pairs kept",
            ),
        ],
    ]  # fmt: skip


def _notices(causal: int, of_strides: ByStride) -> list[str]:
    best = 1 + int(of_strides.strided_kept.argmin())
    return [
        f"With stride **{stride}**, strided attention keeps **{n_pairs:,}** of {causal:,} causal pairs, "
        f"{n_pairs / causal:.0%}." + " No other stride keeps fewer." * (stride == best)
        for stride, n_pairs in enumerate(of_strides.strided_kept.tolist(), start=1)
    ]


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


PART = part(
    __name__,
    ("text_length", Note("Only square numbers are offered, so that √n is a whole stride.")),
    lesson,
    questions,
    scrub="stride",
)
