"""Part 4: where exp overflows in the number formats of computers, and why the maximum is subtracted."""

import numpy as np
from torch import Tensor

from models.lessons.softmax import formats
from models.lessons.softmax.formats import STEPS, Computed, fails
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.softmax.inputs import Inputs
from viz_core.boards import Board, Colour, Curves, Line, Matrix, Panel, Scrub
from viz_core.labels import short

TRIES = (
    Try("logits at 12", {"height": 12}),
    Try("logits at 89", {"height": 89}),
    Try("logits at −20", {"height": -20}),
)
COLOURS: dict[str, Colour] = {"float32": "accent", "bfloat16": 1, "float16": 7}


def lesson(inputs: Inputs) -> Lesson:
    logits = formats.logits()
    naive, stable = (
        {
            name: formats.compute(logits, dtype, subtract_max=subtract)
            for name, dtype in formats.FORMATS.items()
        }
        for subtract in (False, True)
    )
    heights = formats.HEIGHTS.numpy()
    return Lesson(
        see="Eight logits move up or down together, so that the right weights never change. Softmax is "
        "computed as its formula is written, and again after subtracting the largest logit. Framed weights "
        "are off by more than 0.01. Above each column is how far its logit lies below the largest.",
        board=Board(
            rows=[
                [_weights(logits, naive, stable)],
                [
                    _errors(heights, naive, "error, as written"),
                    _errors(heights, stable, "error, maximum subtracted"),
                ],
            ],
            notice=_notices(naive, stable, heights),
            scrub=Scrub(
                field="height", label="largest logit", values=heights,
                words=[f"{height:.0f}".replace("-", "−") for height in heights],
            ),
        ),
        formula=r"\frac{e^{x_i}}{\sum_j e^{x_j}} = \frac{e^{x_i - m}}{\sum_j e^{x_j - m}}, \qquad "
        r"m = \max_j x_j",
        sizes=r",\; ".join(
            rf"\text{{{name}: }} e^x < \infty \text{{ to }} x = {formats.overflow_at(dtype):.2f}"
            for name, dtype in formats.FORMATS.items()
        ),
        shapes=(
            Shape("x", "frame, logit", tuple(logits.shape)),
            Shape("e^x", "frame, logit", tuple(naive["float32"].exps.shape)),
            Shape(r"\sum_j e^{x_j}", "frame", tuple(naive["float32"].total.shape)),
            Shape("p", "frame, weight", tuple(naive["float32"].weights.shape)),
        ),
        code=(formats.logits, formats.naive, formats.stable, formats.compute),
    )  # fmt: skip


def _weights(logits: Tensor, naive: dict[str, Computed], stable: dict[str, Computed]) -> Panel:
    rows = {"exact": logits.softmax(dim=-1)}
    rows |= {f"{name}, as written": made.weights for name, made in naive.items()}
    rows |= {f"{name}, minus max": made.weights for name, made in stable.items()}
    values = np.stack([weights.numpy() for weights in rows.values()], axis=1)  # [frame, way, weight]
    return Matrix(
        values=values, title="weights", rows=list(rows), column_axis="logit", scale="weights",
        columns=[f"−{-step:.1f}" if step else "largest" for step in STEPS.tolist()], digits=4,
        marked=~(abs(values - values[:, :1]) < 0.01),
    )  # fmt: skip


def _errors(heights: np.ndarray, made: dict[str, Computed], title: str) -> Panel:
    lines = [Line(y=made[name].error.numpy(), name=name, colour=colour) for name, colour in COLOURS.items()]
    return Curves(
        x=heights, lines=lines, title=title, x_label="largest logit", y_label="largest error of a weight",
        log_y=True, y_range=(1e-9, 1), at=heights,
    )  # fmt: skip


def _notices(naive: dict[str, Computed], stable: dict[str, Computed], heights: np.ndarray) -> list[str]:
    failing = {name: fails(naive[name], stable[name]).tolist() for name in naive}
    sums = {name: made.total.tolist() for name, made in naive.items()}
    worst = np.max([made.error.numpy() for made in stable.values()], axis=0)
    notices = []
    for at, height in enumerate(heights):
        found = [f"**{short(sums[name][at])}** in {name}" for name in naive if failing[name][at]]
        story = "softmax as written works in every format"
        if found:
            story = f"the exponentials sum to {' and '.join(found)}, so softmax as written fails"
        notices.append(
            f"Largest logit **{height:.0f}**: {story}. With the maximum subtracted, no weight is "
            f"off by more than **{short(worst[at])}**.".replace("**-", "**−")
        )
    return notices


def questions() -> tuple[Question, ...]:
    half, brain = formats.FORMATS["float16"], formats.FORMATS["bfloat16"]
    limit = formats.overflow_at(half)
    at = {int(height): frame for frame, height in enumerate(formats.HEIGHTS.tolist())}
    logits = formats.logits()
    error = {
        name: formats.compute(logits, dtype, subtract_max=True).error[at[80]].item()
        for name, dtype in formats.FORMATS.items()
    }
    low = formats.compute(logits, half, subtract_max=False)
    return (
        Question(
            "What is the first whole number whose exp is infinite in float16?",
            ("12", "89", "65,504"),
            [12, 89, 65_504].index(int(limit) + 1),
            f"The largest number of float16 is 65,504, and its logarithm is {limit:.2f}. For bfloat16 and "
            f"float32 it is {formats.overflow_at(brain):.2f}.",
        ),
        Question(
            "All logits are near −20. What does softmax as written give in float16?",
            ("The right weights: small numbers do no harm", "Zeros", "NaN"),
            2 if low.weights[at[-20]].isnan().all() else 0,
            f"exp(−20) is less than half of float16's smallest number: every exp is rounded to "
            f"{low.exps[at[-20], 0]:.0f}, so is the sum, and 0/0 is {short(low.weights[at[-20], 0].item())}.",
        ),
        Question(
            "bfloat16 reaches as far as float32 in half the bits. What does it give up?",
            ("Negative numbers", "Digits", "Nothing"),
            1 if error["bfloat16"] > 1_000 * error["float32"] else 2,
            f"For logits near 80 its weights are off by up to {short(error['bfloat16'])}, float32's by "
            f"{short(error['float32'])}: there bfloat16 knows only halves, and no trick brings back what "
            "rounding took from the logits.",
        ),
    )


PART = Part("formats", "Number formats", (), lesson, TRIES, questions, scrub="height")
