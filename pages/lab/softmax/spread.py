"""How far the logits spread decides how sharp the softmax is, and whether it can still learn."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.pages.lab.softmax.inputs import (
    AS_IT_IS,
    SCALED,
    Inputs,
    Softmax,
    gradient_norm,
    histogram,
    jacobian,
    softmax,
)
from attention_lab.viz_core.boards import Bars, Colour, Curves, Fact, Facts, Line, Panel, Scrub
from attention_lab.viz_core.labels import short

DEVIATIONS = torch.logspace(-2, 2, 81, dtype=torch.float64)
"""Twenty a decade, from 0.01 to 100."""
MAX_LOGITS = 256


@dataclass(frozen=True)
class Spread:
    """The same draws, spread more and more: `logits` and their softmax, and both at unit deviation."""

    deviations: Float[Tensor, " frame"]
    logits: Float[Tensor, "frame n"]
    original: Softmax
    unit_logits: Float[Tensor, "frame n"]
    unit: Softmax


def draw(n_logits: int, *, seed: int) -> Float[Tensor, " n"]:
    """Standard normal numbers in float64, at most 256; a smaller n gives the first of the same ones."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(MAX_LOGITS, generator=generator, dtype=torch.float64)[:n_logits]


def spread(n_logits: int, *, seed: int, deviations: Float[Tensor, " frame"] = DEVIATIONS) -> Spread:
    """Softmax of normal logits with each standard deviation, and of the same divided by the one they have."""
    logits = deviations[:, None] * draw(n_logits, seed=seed)  # [frame, n]
    unit = logits / logits.std(dim=-1, keepdim=True)
    return Spread(deviations, logits, softmax(logits), unit, softmax(unit))


def change_by_shift(logits: Float[Tensor, "*row n"], amount: int | float) -> float:
    """The most that any weight changes when `amount` is added to every logit."""
    return (softmax(logits + amount).weights - softmax(logits).weights).abs().max().item()


DIVIDED = "divided by their deviation"
EDGES = np.arange(-7.5, 8)
BINS = ["≤ −8", *(str(at).replace("-", "−") for at in range(-7, 8)), "≥ 8"]


def lesson(inputs: Inputs) -> Lesson:
    result = spread(inputs.n_logits, seed=inputs.seed)
    deviations = result.deviations.numpy()
    ways: tuple[tuple[str, str, Tensor, Softmax, Colour], ...] = (
        ("logits", "as they are", result.logits, result.original, AS_IT_IS),
        ("logits / their deviation", DIVIDED, result.unit_logits, result.unit, SCALED),
    )
    over_deviation: dict[str, Any] = {
        "x": deviations, "at": deviations, "x_label": "standard deviation of the logits", "log_x": True,
    }  # fmt: skip
    curves = (
        Curves(
            lines=[Line(of.gradient.numpy(), name, colour) for _, name, _, of, colour in ways],
            title="gradient that gets through", y_label="norm of the Jacobian", log_y=True, y_range=(1e-6, 1),
            **over_deviation,
        ),
        Curves(
            lines=[Line(of.entropy.numpy(), name, colour) for _, name, _, of, colour in ways],
            title="entropy", y_label="nats", y_range=(0, 1.05 * math.log(inputs.n_logits)), **over_deviation,
        ),
    )  # fmt: skip
    facts = [
        Facts.of(
            Fact("largest weight", of.largest.numpy(), 3, colour=colour),
            Fact("entropy", of.entropy.numpy(), 3, "nats", colour),
            Fact("gradient that gets through", of.gradient.numpy(), 3, colour=colour),
            title=name,
        )
        for _, name, _, of, colour in ways
    ]
    return Lesson(
        rows=[
            facts,
            *(
                [*_bars(name, logits, of, colour), each]
                for (name, _, logits, of, colour), each in zip(ways, curves, strict=True)
            ),
        ],
        notice=[_notice(result, at) for at in range(len(deviations))],
        scrub=Scrub("deviation", "standard deviation", deviations, list(map(short, deviations))),
        sizes=rf"n = {inputs.n_logits},\; \ln n = {math.log(inputs.n_logits):.3f}",
        axes={"frame": result.logits.shape[0], "logit": inputs.n_logits, "weight": inputs.n_logits},
        code=(draw, spread, softmax, jacobian, gradient_norm),
    )


def _bars(name: str, logits: Tensor, result: Softmax, colour: Colour) -> list[Panel]:
    shares = histogram(logits, torch.from_numpy(EDGES)).numpy()
    n_weights = logits.shape[-1]
    largest_first = -np.sort(-result.weights.numpy(), axis=-1)
    return [
        Bars(
            values=shares, labels=BINS, title=name, x_label="logit, rounded", y_label="share",
            colour=colour, reach=1,
        ),
        Bars(
            values=largest_first, labels=[str(at + 1) for at in range(n_weights)], title=f"softmax of {name}",
            x_label="weights, largest first", y_label="weight", colour=colour, reach=1,
        ),
    ]  # fmt: skip


def _notice(result: Spread, at: int) -> str:
    largest = result.original.largest[at].item()
    through, unit = result.original.gradient[at].item(), result.unit.gradient[at].item()
    own = result.logits[at].std().item()
    return (
        f"These {result.logits.shape[1]} logits' standard deviation is {short(own)}: largest weight "
        f"**{largest:.2f}**, gradient **{short(through)}**; divided by it, always **{short(unit)}**."
    )


def questions() -> tuple[Answer, ...]:
    result = spread(16, seed=0)
    small, one, ten, hundred = (int((DEVIATIONS - d).abs().argmin()) for d in (0.01, 1, 10, 100))
    largest, gradient = result.original.largest, result.original.gradient
    best = int(gradient.argmax())
    shifted = change_by_shift(result.logits, 5)
    places = [gradient[small].item(), gradient[best].item(), gradient[hundred].item()]
    return (
        Answer.of(1 if largest[ten] > largest[one] else 2, at_one=largest[one], at_ten=largest[ten]),
        Answer.of(2 if shifted < 1e-12 else 1, shifted=shifted),
        Answer.of(int(np.argmax(places)), places=places, deviation=result.deviations[best]),
    )


PART = part(__name__, ("n_logits", "seed"), lesson, questions, scrub="deviation")
