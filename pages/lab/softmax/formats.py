"""The softmax in the number formats of computers: where exp overflows, and why the maximum is subtracted."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.pages.lab.softmax.inputs import Inputs
from attention_lab.viz_core.boards import Colour, Curves, Line, Matrix, Scrub
from attention_lab.viz_core.labels import short

FORMATS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
STEPS = -0.3 * torch.arange(8, dtype=torch.float64)
"""Eight logits, seen from the largest: 0 to -2.1."""
HEIGHTS = torch.arange(-120, 121, dtype=torch.float64)


@dataclass(frozen=True)
class Computed:
    """One way to compute the softmax in one format: each step as it came out, inf and NaN included."""

    exps: Float[Tensor, "frame n"]
    total: Float[Tensor, " frame"]
    weights: Float[Tensor, "frame n"]
    error: Float[Tensor, " frame"]
    """Largest distance of a weight from the exact one; NaN if there is a NaN among them."""


def logits(heights: Float[Tensor, " frame"] = HEIGHTS) -> Float[Tensor, "frame n"]:
    """Eight logits, the largest of them at each height; the exact softmax is the same for all heights."""
    return heights[:, None] + STEPS


def naive(x: Float[Tensor, "*row n"]) -> tuple[Tensor, Tensor, Tensor]:
    """Exponentials, their sum and their quotient, as the formula is written."""
    exps = x.exp()
    total = exps.sum(dim=-1, keepdim=True)
    return exps, total, exps / total


def stable(x: Float[Tensor, "*row n"]) -> tuple[Tensor, Tensor, Tensor]:
    """The same after subtracting the largest logit: the largest exponential is 1, so nothing overflows.

    exp(x_i - m) / sum_j exp(x_j - m) is the same number, as exp(-m) cancels.
    """
    return naive(x - x.amax(dim=-1, keepdim=True))


def compute(x: Float[Tensor, "frame n"], dtype: torch.dtype, *, subtract_max: bool) -> Computed:
    """Rounds the float64 logits to `dtype`, computes there, and compares with the softmax of float64."""
    exps, total, weights = (stable if subtract_max else naive)(x.to(dtype))
    error = (weights.double() - x.softmax(dim=-1)).abs().amax(dim=-1)
    return Computed(exps.double(), total.double()[:, 0], weights.double(), error)


def fails(written: Computed, subtracted: Computed) -> Bool[Tensor, " frame"]:
    """Where the formula as written gives NaN, or weights worse by 0.01 than with the maximum subtracted."""
    return ~(written.error < subtracted.error + 0.01)


def overflow_at(dtype: torch.dtype) -> float:
    """The logit above which exp is infinite: the logarithm of the largest number, 11.09 in float16."""
    return math.log(torch.finfo(dtype).max)


COLOURS: dict[str, Colour] = {"float32": "accent", "bfloat16": 1, "float16": 7}


def lesson(inputs: Inputs) -> Lesson:
    x, heights = logits(), HEIGHTS.numpy()
    as_written, subtracted = (
        {name: compute(x, dtype, subtract_max=subtract) for name, dtype in FORMATS.items()}
        for subtract in (False, True)
    )
    ways = {"exact": x.softmax(dim=-1)}
    ways |= {f"{name}, as written": result.weights for name, result in as_written.items()}
    ways |= {f"{name}, minus max": result.weights for name, result in subtracted.items()}
    weights = np.stack([each.numpy() for each in ways.values()], axis=1)  # [frame, way, weight]
    return Lesson(
        rows=[
            [
                Matrix(
                    values=weights, title="weights", rows=list(ways), column_axis="logit", scale="weights",
                    columns=[f"−{-step:.1f}" if step else "largest" for step in STEPS.tolist()], digits=4,
                    marked=~(abs(weights - weights[:, :1]) < 0.01),
                )
            ],
            [
                Curves(
                    x=heights, at=heights, title=title, x_label="largest logit",
                    y_label="largest error of a weight", log_y=True, y_range=(1e-9, 1),
                    lines=[Line(of[name].error.numpy(), name, colour) for name, colour in COLOURS.items()],
                )
                for title, of in (
                    ("error, as written", as_written), ("error, maximum subtracted", subtracted)
                )
            ],
        ],
        notice=_notices(as_written, subtracted, heights),
        scrub=Scrub(
            "height", "largest logit", heights, [f"{height:.0f}".replace("-", "−") for height in heights]
        ),
        sizes=r",\; ".join(
            rf"\text{{{name}: }} e^x < \infty \text{{ to }} x = {overflow_at(dtype):.2f}"
            for name, dtype in FORMATS.items()
        ),
        axes={"frame": x.shape[0], "logit": x.shape[1], "weight": as_written["float32"].weights.shape[1]},
        code=(logits, naive, stable, compute),
    )  # fmt: skip


def _notices(
    as_written: dict[str, Computed], subtracted: dict[str, Computed], heights: np.ndarray
) -> list[str]:
    failing = {name: fails(as_written[name], subtracted[name]).tolist() for name in as_written}
    worst = np.max([result.error.numpy() for result in subtracted.values()], axis=0)
    notices = []
    for at, height in enumerate(heights):
        failures = [name for name in as_written if failing[name][at]]
        story = "plain softmax works in every format"
        if failures:
            story = f"in {', '.join(failures)}, plain softmax **fails**"
        notices.append(
            f"Largest logit **{height:.0f}**: {story}. After subtracting it, the error is at "
            f"most **{short(worst[at])}**.".replace("**-", "**−")
        )
    return notices


def questions() -> tuple[Answer, ...]:
    half, brain = FORMATS["float16"], FORMATS["bfloat16"]
    limit = overflow_at(half)
    at = {int(height): frame for frame, height in enumerate(HEIGHTS.tolist())}
    x = logits()
    error = {
        name: compute(x, dtype, subtract_max=True).error[at[80]].item() for name, dtype in FORMATS.items()
    }
    low = compute(x, half, subtract_max=False)
    return (
        Answer.of([12, 89, 65_504].index(int(limit) + 1), limit=limit, others=overflow_at(brain)),
        Answer.of(
            2 if low.weights[at[-20]].isnan().all() else 0,
            exp=low.exps[at[-20], 0],
            weight=low.weights[at[-20], 0].item(),
        ),
        Answer.of(1 if error["bfloat16"] > 1_000 * error["float32"] else 2, error=error),
    )


PART = part(__name__, (), lesson, questions, scrub="height")
