"""Targets, and the distributions of a tiny translator that is trained here and now."""

import math

import numpy as np
from torch import Tensor

from pages.lab.lesson import Answer, Lesson, Note, Set, part
from pages.lab.objective.inputs import MODEL, OTHER, TARGET, Inputs
from pages.lab.objective.loss import targets, terms
from pages.lab.objective.toy import (
    READ,
    SOURCE,
    TARGETS,
    WORDS,
    Adam,
    Run,
    Setup,
    of_the_right_word,
    positions,
    toy_logits,
    toy_model,
    train,
    untrained_loss,
    written,
)
from viz_core.boards import Curves, Fact, Facts, Line, Matrix, Panel, Scrub


def lesson(inputs: Inputs) -> Lesson:
    setup = Setup(inputs.steps, inputs.rate, inputs.smoothing, inputs.seed)
    run = train(setup)
    distributions = targets(TARGETS, len(WORDS), setup.smoothing)
    parts = terms(distributions, run.probabilities.double())
    floor = parts.entropy.sum(dim=-1).mean(dim=-1)  # [record], the same in all
    divergence = parts.divergence.sum(dim=-1).mean(dim=-1)
    return Lesson(
        numbers={"milliseconds": 1_000 * run.seconds},
        rows=[
            _matrices(run, distributions),
            [_loss(run, floor), _right(run)],
            [_facts(run, floor, divergence)],
        ],
        notice=_notices(run, setup, floor),
        scrub=Scrub(
            field="step", label="training step", values=np.array(run.steps), plays=True, speed=8,
            words=[f"{step} of {setup.steps}" for step in run.steps],
        ),
        sizes=rf"T = {len(TARGETS)},\; \eta = {setup.learning_rate:g},\; "
        rf"{run.n_weights:,}\text{{ weights }}\theta",
        axes={
            "position": len(distributions), "word": len(WORDS), "step": len(run.probabilities),
            "sentence": len(READ), "word of the source": SOURCE.shape[1], "word read": READ.shape[1],
        },
        code=(toy_model, toy_logits, train, Adam, targets),
    )  # fmt: skip


def _matrices(run: Run, distributions: Tensor) -> list[Panel]:
    titles = ("targets y", "before training", "model p, now")
    values = (distributions.numpy(), run.probabilities[0].numpy(), run.probabilities.numpy())
    return [
        Matrix(
            values=numbers, title=title, rows=() if at else positions(), columns=WORDS,
            row_axis="position", column_axis="word", scale="weights",
        )
        for at, (title, numbers) in enumerate(zip(titles, values, strict=True))
    ]  # fmt: skip


def _loss(run: Run, floor: Tensor) -> Panel:
    steps = np.array(run.steps)
    return Curves(
        x=steps, at=steps, title="cross-entropy, mean of seven positions", x_label="training step",
        y_label="nats", y_range=(0, max(2.0, 1.05 * run.loss.max().item())),
        lines=[
            Line(y=run.loss.numpy(), name="loss", colour=MODEL),
            Line(y=floor.numpy(), name="lowest possible: H(y)", colour=TARGET, dashed=True),
        ],
    )  # fmt: skip


def _right(run: Run) -> Panel:
    right, steps = of_the_right_word(run), np.array(run.steps)
    return Curves(
        x=steps, at=steps, title="probability of the right word", x_label="training step",
        y_label="probability", y_range=(0, 1),
        lines=[
            Line(y=right.mean(dim=-1).numpy(), name="mean of seven", colour=MODEL),
            Line(y=right.amin(dim=-1).numpy(), name="least of seven", colour=OTHER),
        ],
    )  # fmt: skip


def _facts(run: Run, floor: Tensor, divergence: Tensor) -> Panel:
    return Facts(
        facts=[
            Fact(label="H(y, p): the loss", values=run.loss.numpy(), digits=3, unit="nats", colour=MODEL),
            Fact(label="= H(y): of the targets", values=floor.numpy(), digits=3, unit="nats"),
            Fact(label="+ KL(y ‖ p)", values=divergence.numpy(), digits=3, unit="nats"),
            Fact(label="perplexity, e^loss", values=run.loss.exp().numpy(), digits=2),
        ]
    )


def _notices(run: Run, setup: Setup, floor: Tensor) -> list[str]:
    smoothed = f" It cannot fall below {floor[0]:.3f}, the entropy of smoothed targets."
    return [
        f"After **{step} of {setup.steps}** steps the loss is **{loss:.3f}** nats. The likeliest words are "
        f"**{' '.join(first)}** and **{' '.join(second)}**.{smoothed if setup.smoothing else ''}"
        for step, loss, (first, second) in zip(run.steps, run.loss.tolist(), written(run), strict=True)
    ]


def questions() -> tuple[Answer, ...]:
    n = len(WORDS)
    starts = [untrained_loss(seed) for seed in range(8)]
    mean = sum(starts) / len(starts)
    goals = targets(TARGETS, n, 0.1)
    best = goals.max().item()
    chances = (0.9, best, 1.0)  # of the right word; the others share the rest
    losses = [
        terms(goals, targets(TARGETS, n, (1 - p) * n / (n - 1))).cross.sum(dim=-1).mean() for p in chances
    ]
    floor = min(losses).item()
    offered = (terms(goals, goals).entropy.sum(dim=-1).mean().item(), 0.0, -math.log(best))
    return (
        Answer.of(
            0 if mean < math.log(n) - 0.01 else 2 if mean > math.log(n) + 0.01 else 1,
            guess=math.log(n),
            mean=mean,
        ),
        Answer.of(int(np.argmin(losses)), options=tuple(f"{chance:.2f}" for chance in chances), best=best),
        Answer.of(
            int(np.argmin([abs(each - floor) for each in offered])),
            offered=offered,
            floor=floor,
            price=-math.log(0.1 / n),
        ),
    )


PART = part(
    __name__,
    (
        "steps",
        "rate",
        "smoothing",
        Set("seed", {"label": "Seed of the weights", "help": None}),
        Note("The decoder reads the right words before each position (teacher forcing)."),
    ),
    lesson,
    questions,
    scrub="step",
)
