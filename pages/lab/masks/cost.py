"""Part 3: what sparse masks spare."""

from math import isqrt

import numpy as np
import torch

from models.engine import masks
from models.lessons.masks import cost
from models.lessons.masks.cost import ByLength, ByStride
from pages.lab.controls import Note
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.masks import choice
from pages.lab.masks.inputs import Inputs
from viz_core.boards import Board, Colour, Curves, Fact, Facts, Line, Matrix, Scrub

STRIDED: Colour = 1
FIXED: Colour = 2
TRIES = (
    Try("stride 1", {"stride": 1}),
    Try("16 words, stride 4", {"text_length": 16, "stride": 4}),
    Try("stride n", {"text_length": 49, "stride": 49}),
)


def lesson(inputs: Inputs) -> Lesson:
    n = inputs.text_length
    strides = np.arange(1, n + 1)
    causal = cost.kept(masks.causal(n, n))
    by_stride = cost.by_stride(n, n)
    by_length = cost.by_length(torch.tensor([2**power for power in range(2, 10)]))
    return Lesson(
        see="Every pair of query and key costs one dot product. Sparse Transformers keep only some of them: "
        "near pairs, and one in every *stride* further away. Drag the **stride** and watch which are left.",
        board=Board(
            rows=_rows(n, causal, by_stride, by_length),
            notice=_notices(causal, by_stride),
            scrub=Scrub(field="stride", label="stride", values=strides),
        ),
        formula=r"\text{strided: } \q{i} - \k{j} \le l \;\lor\; (\q{i} - \k{j}) \bmod l = 0 \qquad "
        r"\text{fixed: } \lfloor \k{j} / l \rfloor = \lfloor \q{i} / l \rfloor \;\lor\; "
        r"\k{j} \bmod l = l - 1",
        sizes=rf"\k{{j}} \le \q{{i}},\; n = {n},\; \sqrt{{n}} = {isqrt(n)},\; l = 1 \ldots {n}",
        shapes=[
            Shape(r"\text{strided}", "stride query key", tuple(by_stride.strided.shape)),
            Shape(r"\text{fixed}", "stride query key", tuple(by_stride.fixed.shape)),
            Shape(r"\text{kept}", "stride", (n,)),
        ],
        code=[masks.strided, masks.fixed, cost.by_stride, cost.by_length],
    )


def _rows(
    n: int, causal: int, by_stride: ByStride, by_length: ByLength
) -> list[list[Matrix | Facts | Curves]]:
    strides = np.arange(1, n + 1)
    strided, fixed = (kept.numpy() for kept in (by_stride.strided_kept, by_stride.fixed_kept))
    patterns = {"strided": by_stride.strided, "fixed": by_stride.fixed}
    pictures = [
        Matrix(values=kept.numpy(), title=name, scale="mask", picture=True, **choice.AXES)
        for name, kept in patterns.items()
    ]
    facts = [
        Fact(label=f"{name}: pairs kept", values=kept, digits=0, unit=f"of {causal:,}", colour=colour)
        for name, kept, colour in (("strided", strided, STRIDED), ("fixed", fixed, FIXED))
    ]
    grown = [
        Line(y=getattr(by_length, field).numpy(), name=name, colour=colour, dashed=field == "n_sqrt_n")
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
                x=by_length.n.numpy(), lines=grown, log_x=True, log_y=True, x_label="words n, with l = √n",
                y_label="pairs kept",
            ),
        ],
    ]  # fmt: skip


def _notices(causal: int, by_stride: ByStride) -> list[str]:
    best = 1 + int(by_stride.strided_kept.argmin())
    return [
        f"With stride **{stride}**, strided attention keeps **{kept:,}** of {causal:,} causal pairs, "
        f"{kept / causal:.0%}." + " No other stride keeps fewer." * (stride == best)
        for stride, kept in enumerate(by_stride.strided_kept.tolist(), start=1)
    ]


def questions() -> tuple[Question, ...]:
    table = cost.by_stride(49, 49)
    best = 1 + int(table.strided_kept.argmin())  # of all strides, not only of those that are offered
    at = {stride: int(table.strided_kept[stride - 1]) for stride in sorted({1, best, 7, 49})}
    grown = cost.by_length(torch.tensor([256, 1024]))
    causal, strided = (int(kept[1]) / int(kept[0]) for kept in (grown.causal, grown.strided))
    times = (4, 8, 16)
    return (
        Question(
            "With 49 words, which stride leaves strided attention the fewest pairs?",
            tuple(str(stride) for stride in at),
            list(at).index(best),
            "; ".join(f"stride {stride} keeps {kept:,}" for stride, kept in at.items())
            + f". Small strides keep too many far pairs, large ones too many near pairs; √49 = {isqrt(49)} "
            "is a rule of thumb, not the best.",
        ),
        Question(
            f"Four times as many words (256 → 1,024) make {causal:.1f} times as many causal pairs. How many "
            "times as many strided pairs, with l = √n?",
            tuple(f"{factor} times" for factor in times),
            times.index(round(strided)),
            f"**{strided:.1f}** times, counted: n √n grows 4 × √4 = 8 times, n² 4 × 4 = 16 times.",
        ),
    )


PART = Part(
    "cost", "Cost", ("text_length", Note("Only square numbers are offered, so that √n is a whole stride.")),
    lesson, TRIES, questions, scrub="stride",
)  # fmt: skip
