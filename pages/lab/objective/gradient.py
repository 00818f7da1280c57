"""The gradient of the loss with respect to the logits, and a walk down it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_lab.pages.lab.lesson import Answer, Lesson, Note, part
from attention_lab.pages.lab.objective import loss
from attention_lab.pages.lab.objective.inputs import MODEL, OTHER, WORDS, Inputs
from attention_lab.viz_core.boards import Bars, Colour, Curves, Fact, Facts, Line, Matrix, Panel, Scrub
from attention_lab.viz_core.labels import decimal

N_STEPS = 60
Logits = Float[Tensor, "*row word"]
Targets = Float[Tensor, "*_ word"]
Loss = Callable[[Tensor, Tensor], Tensor]
"""A loss makes one number for each row of logits and targets; a gradient makes one for each logit."""


def cross_entropy(z: Logits, y: Targets) -> Float[Tensor, "*row"]:
    """H(y, softmax(z)) in nats, for targets y that sum to 1."""
    return -(y * z.log_softmax(dim=-1)).sum(dim=-1)


def squared_error(z: Logits, y: Targets) -> Float[Tensor, "*row"]:
    """sum over words of (softmax(z) - y)^2."""
    return (z.softmax(dim=-1) - y).square().sum(dim=-1)


def of_cross_entropy(z: Logits, y: Targets) -> Logits:
    """p - y with p = softmax(z): the slope of the softmax cancels against that of the logarithm.

    Bridle 1990, "Training stochastic model recognition algorithms"; Goodfellow et al. 2016, 6.2.2.
    """
    return z.softmax(dim=-1) - y


def of_squared_error(z: Logits, y: Targets) -> Logits:
    """2 p_i ((p - y)_i - sum_j p_j (p - y)_j): the softmax's slope stays, and is 0 where p is 0 or 1."""
    p = z.softmax(dim=-1)
    error = p - y
    return 2 * p * (error - (p * error).sum(dim=-1, keepdim=True))


def by_autograd(loss: Loss, z: Logits, y: Targets) -> Logits:
    """PyTorch's own gradient of a loss with respect to z; the rows are independent."""
    z = z.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(z, y).sum(), z)
    return gradient


@dataclass(frozen=True)
class Walk:
    """Where gradient descent on the logits leads, and the gradients that led there."""

    logits: Float[Tensor, "step word"]
    probabilities: Float[Tensor, "step word"]
    gradient: Float[Tensor, "step word"]
    length: Float[Tensor, " step"]
    """Euclidean norm of the gradient."""
    off_autograd: float
    """The most by which the formula's gradient differs from autograd's, in any step."""


def walk(
    start: Float[Tensor, " word"], y: Float[Tensor, " word"], loss: Loss, gradient: Loss, rate: int | float
) -> Walk:
    """Begins at `start` and replaces z by z - rate * gradient(z, y), 60 times."""
    steps = [start]
    for _ in range(N_STEPS):
        steps.append(steps[-1] - rate * gradient(steps[-1], y))
    z = torch.stack(steps)
    slopes = gradient(z, y)
    off = (slopes - by_autograd(loss, z, y)).abs().max().item()
    return Walk(z, z.softmax(dim=-1), slopes, slopes.norm(dim=-1), off)


WRONG = ((0.0, 8.0, 0.0, 0.0, 0.0, 0.0),)


def lesson(inputs: Inputs) -> Lesson:
    z, word = torch.tensor(inputs.logits[0], dtype=torch.float64), inputs.word
    y = loss.targets(torch.tensor(word), len(WORDS), inputs.smoothing)
    cross = walk(z, y, cross_entropy, of_cross_entropy, inputs.descent)
    square = walk(z, y, squared_error, of_squared_error, inputs.descent)
    steps = np.arange(N_STEPS + 1)
    in_words = [f"{step} step{'s' * (step != 1)}" for step in steps.tolist()]
    p, p_square = cross.probabilities.numpy(), square.probabilities.numpy()
    numbers = (p[:, word], p_square[:, word], cross.length, square.length)
    return Lesson(
        rows=[
            [
                Matrix(
                    values=np.array(inputs.logits), title="logits z at the start, to type into",
                    columns=WORDS, rows=("z",), column_axis="word", scale="plain", edit="logits",
                ),
                Matrix(
                    values=np.stack([np.broadcast_to(y.numpy(), p.shape), p, p_square], axis=1),
                    title="probabilities now", rows=("target y", "p, cross-entropy", "p, squared error"),
                    columns=WORDS, column_axis="word", scale="weights", quantity="probability",
                ),
            ],
            [
                _bars(cross, "cross-entropy: p − y", MODEL),
                _bars(square, "squared error: 2 Jᵀ (p − y)", OTHER),
                Curves(
                    x=steps, at=steps, title="probability of the right word", x_label="steps of descent",
                    y_label="probability", y_range=(0, 1),
                    lines=[
                        Line(p[:, word], "cross-entropy", MODEL),
                        Line(p_square[:, word], "squared error", OTHER),
                    ],
                ),
            ],
            [
                Facts.of(
                    Fact("‖p − y‖", cross.length.numpy(), 3, colour=MODEL),
                    Fact("‖gradient of squared error‖", square.length.numpy(), 3, colour=OTHER),
                    Fact(
                        "largest difference from autograd, all steps",
                        np.array(max(cross.off_autograd, square.off_autograd)),
                    ),
                )
            ],
        ],
        notice=[
            f"p(**{WORDS[word]}**) after {after}: **{decimal(a, 3)}** by cross-entropy, **{decimal(b, 3)}** "
            f"by squared error; gradient lengths **{decimal(c, 3)}** and **{decimal(d, 3)}**."
            for after, a, b, c, d in zip(in_words, *numbers, strict=True)
        ],
        scrub=Scrub("walked", "steps of descent", steps, in_words),
        sizes=rf"\eta = {inputs.descent:g},\; y_{{\text{{{WORDS[word]}}}}} = {y[word]:.4g}",
        axes={"step": cross.logits.shape[0], "word": y.shape[0]},
        code=(cross_entropy, of_cross_entropy, of_squared_error, by_autograd, walk),
    )  # fmt: skip


def _bars(walk: Walk, title: str, colour: Colour) -> Panel:
    return Bars(
        values=walk.gradient.numpy(), labels=WORDS, title=title, y_label="slope of the loss", colour=colour,
        axis="word", low=-1.2, reach=1.2,
    )  # fmt: skip


def questions() -> tuple[Answer, ...]:
    z = torch.tensor(WRONG[0], dtype=torch.float64)
    hot, smooth = (loss.targets(torch.tensor(2), len(WORDS), eps) for eps in (0.0, 0.1))
    cross = of_cross_entropy(z, hot)
    ratio = (cross.norm() / of_squared_error(z, hot).norm()).item()
    sizes = np.array([1, 10, 500])
    best = of_cross_entropy(smooth.log(), smooth).abs().max().item()
    total = cross.sum().item()
    return (
        Answer.of(
            int(np.abs(np.log(sizes / ratio)).argmin()),
            ratio=ratio,
            cross_length=cross.norm(),
            square_length=cross.norm() / ratio,
        ),
        Answer.of(1 if abs(total) < 1e-9 else 0, total=abs(total)),
        Answer.of(2 if best < 1e-9 else 0, best=best, gap=(smooth[2] / smooth[0]).log()),
    )


TYPED = Note("Type other logits into their cells.")
PART = part(
    __name__, ("word", "descent", "smoothing", TYPED), lesson, questions, scrub="walked", also=("logits",)
)
