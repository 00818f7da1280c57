"""Targets, and the distributions of a tiny translator that is trained here and now."""

import math
from typing import Any

import numpy as np

from attention_lab.pages.lab.lesson import Answer, Lesson, Note, Set, part
from attention_lab.pages.lab.objective.inputs import MODEL, OTHER, TARGET, Inputs
from attention_lab.pages.lab.objective.loss import targets, terms
from attention_lab.pages.lab.objective.toy import (
    READ,
    SOURCE,
    TARGETS,
    WORDS,
    Adam,
    Setup,
    of_the_right_word,
    positions,
    toy_logits,
    toy_model,
    train,
    untrained_loss,
    written,
)
from attention_lab.viz_core.boards import Curves, Fact, Facts, Line, Matrix, Scrub


def lesson(inputs: Inputs) -> Lesson:
    setup = Setup(inputs.steps, inputs.rate, inputs.smoothing, inputs.seed)
    run = train(setup)
    distributions = targets(TARGETS, len(WORDS), setup.smoothing)
    parts = terms(distributions, run.probabilities.double())
    floor = parts.entropy.sum(dim=-1).mean(dim=-1)  # [record], the same in all
    divergence = parts.divergence.sum(dim=-1).mean(dim=-1)
    right, steps, loss = of_the_right_word(run), np.array(run.steps), run.loss.numpy()
    cells: dict[str, Any] = {
        "columns": WORDS, "row_axis": "position", "column_axis": "word", "scale": "weights",
        "quantity": "probability",
    }  # fmt: skip
    over_steps: dict[str, Any] = {"x": steps, "at": steps, "x_label": "training step"}
    least = f", {floor[0]:.3f} at best" if setup.smoothing else ""
    return Lesson(
        numbers={"milliseconds": 1_000 * run.seconds},
        rows=[
            [
                Matrix(
                    values=distributions.numpy(), title="targets y", rows=positions(),
                    **cells,
                ),
                Matrix(
                    values=run.probabilities[0].numpy(), title="before training", **cells
                ),
                Matrix(values=run.probabilities.numpy(), title="model p, now", **cells),
            ],
            [
                Curves(
                    title="cross-entropy, mean of seven positions", y_label="nats",
                    y_range=(0, max(2.0, 1.05 * run.loss.max().item())), **over_steps,
                    lines=[
                        Line(loss, "loss", MODEL),
                        Line(floor.numpy(), "lowest possible: H(y)", TARGET, dashed=True),
                    ],
                ),
                Curves(
                    title="probability of the right word", y_label="probability", y_range=(0, 1),
                    **over_steps,
                    lines=[
                        Line(right.mean(dim=-1).numpy(), "mean of seven", MODEL),
                        Line(right.amin(dim=-1).numpy(), "least of seven", OTHER),
                    ],
                ),
            ],
            [
                Facts.of(
                    Fact("H(y, p): the loss", loss, 3, "nats", MODEL),
                    Fact("= H(y): of the targets", floor.numpy(), 3, "nats"),
                    Fact("+ KL(y ‖ p)", divergence.numpy(), 3, "nats"),
                    Fact("perplexity, e^loss", run.loss.exp().numpy(), 2),
                )
            ],
        ],
        notice=[
            f"Loss after **{step} of {setup.steps}** steps: **{at:.3f}** nats{least}. Likeliest: "
            f"**{' '.join(first)}** and **{' '.join(second)}**."
            for step, at, (first, second) in zip(run.steps, run.loss.tolist(), written(run), strict=True)
        ],
        scrub=Scrub(
            "step", "training step", steps, [f"{step} of {setup.steps}" for step in run.steps], plays=True,
            speed=8,
        ),
        sizes=rf"T = {len(TARGETS)},\; \eta = {setup.learning_rate:g},\; "
        rf"{run.n_weights:,}\text{{ weights }}\theta",
        axes={
            "position": len(distributions), "word": len(WORDS), "step": len(run.probabilities),
            "sentence": len(READ), "word of the source": SOURCE.shape[1], "word read": READ.shape[1],
        },
        code=(toy_model, toy_logits, train, Adam, targets),
    )  # fmt: skip


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


CONTROLS = (
    "steps",
    "rate",
    "smoothing",
    Set("seed", {"label": "Seed of the weights", "help": None}),
    Note("The decoder reads the right words (teacher forcing)."),
)
PART = part(__name__, CONTROLS, lesson, questions, scrub="step")
