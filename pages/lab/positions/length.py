"""Longer than trained: the same models, asked for more words than any training window had."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor

from attention_lab.models.data.tasks.next_word import NextWord
from attention_lab.models.zoo.engine_model import TrainedModel
from attention_lab.pages.lab.lesson import Answer, Lesson, Note, part
from attention_lab.pages.lab.positions.inputs import NAMES, TIMES, Inputs, all_trained, trained
from attention_lab.pages.shared import cache
from attention_lab.viz_core.boards import Curves, Fact, Facts, Line, Matrix


class LengthAnswer(NamedTuple):
    """A model asked for a length: the mean loss at each position (nats), or why there is none."""

    losses: Float[Tensor, " position"] | None
    refusal: str = ""

    def between(self, start: int, end: int) -> float | None:
        """Mean loss at positions start + 1 to end; None where the model has no answer."""
        return None if self.losses is None else self.losses[start:end].mean().item()


def ask(lm: TrainedModel[NextWord], texts: Int[Tensor, "text word"], length: int) -> LengthAnswer:
    """Reads the first `length` words of each text and predicts the word after each of them."""
    try:
        return LengthAnswer(lm.task.nats(lm.model, texts[:, : length + 1]).mean(dim=0))
    except ValueError as refusal:
        return LengthAnswer(None, str(refusal))


def in_buckets(losses: Float[Tensor, " position"], width: int) -> Float[Tensor, " bucket"]:
    """Means over `width` positions each; the length must be a multiple of it."""
    return losses.unflatten(0, (-1, width)).mean(dim=-1)


N_TEXTS = 48
WIDTH = 8


def lesson(inputs: Inputs) -> Lesson:
    trained_length = trained("none").task.length
    asked_for = inputs.times * trained_length
    answers, ranges = _answers(inputs.held_out, asked_for), _ranges(asked_for, trained_length)
    losses = [[answer.between(*span) for span in ranges] for answer in answers.values()]
    refused = [
        Fact(f"{NAMES[scheme]} answers", f"none: {trained(scheme).config.max_len} vectors, {asked_for} words")
        for scheme, answer in answers.items()
        if answer.losses is None
    ]
    return Lesson(
        rows=[
            [
                Curves(
                    title=f"loss by position, means of {WIDTH} positions; trained up to {trained_length}",
                    x=np.arange(WIDTH / 2, asked_for, WIDTH) + 0.5, x_label="words read so far",
                    y_label="nats per word",
                    lines=[
                        Line(in_buckets(answer.losses, WIDTH).numpy(), NAMES[scheme], at)
                        for at, (scheme, answer) in enumerate(answers.items())
                        if answer.losses is not None
                    ],
                )
            ],
            [
                Matrix(
                    title="nats per word (NaN: no answer)", values=np.array(losses, dtype=float),
                    scale="plain", rows=list(NAMES.values()), row_axis="scheme",
                    columns=[f"{start + 1} to {end}" for start, end in ranges], column_axis="position",
                ),
                Facts(facts=refused or [Fact("answers", "all seven")]),
            ],
        ],
        notice=_notice(answers, *ranges[-1], at_home=inputs.times == 1),
        sizes=rf"{N_TEXTS}\ \text{{texts}},\; t=1\ldots{asked_for}",
        axes={
            "text": N_TEXTS, "word": asked_for + 1, "position": asked_for,
            "vocabulary": trained("none").model.config.vocab_size,
        },
        code=(NextWord.held_out_texts, ask, in_buckets, NextWord.nats),
    )  # fmt: skip


def _answers(seed: int, asked_for: int) -> dict[str, LengthAnswer]:
    """Every model's answer, by scheme."""

    def answer(scheme: str, lm: TrainedModel[NextWord]) -> LengthAnswer:
        if asked_for > lm.config.max_len:
            return ask(lm, held_out(seed), asked_for)
        whole = _whole(scheme, seed)
        assert whole.losses is not None
        return LengthAnswer(whole.losses[:asked_for])

    return {scheme: answer(scheme, lm) for scheme, lm in all_trained().items()}


@cache.kept(cache.results, 1_000)
def _whole(scheme: str, seed: int) -> LengthAnswer:
    """A model's answer at all lengths. It sees no later word: the losses of a shorter text are the first."""
    lm = trained(scheme)
    return ask(lm, held_out(seed), min(max(TIMES) * lm.task.length, lm.config.max_len))


@cache.kept(cache.results, 60_000)
def held_out(seed: int) -> Tensor:
    """The ids of the texts that the models are asked about, [text, word]."""
    task = trained("none").task
    return task.held_out_texts(N_TEXTS, max(TIMES) * task.length + 1, seed)


def _ranges(asked_for: int, trained_length: int) -> list[tuple[int, int]]:
    """1 to 32, 33 to 64, 65 to 128, as far as was asked for."""
    ends = [trained_length * times for times in TIMES if trained_length * times <= asked_for]
    return list(zip([0, *ends], ends, strict=False))


def _notice(answers: dict[str, LengthAnswer], start: int, end: int, *, at_home: bool) -> str:
    """at_home: the models are asked for the length that they were trained with."""
    losses = {scheme: loss for scheme, answer in answers.items() if (loss := answer.between(start, end))}
    best, worst = min(losses, key=losses.__getitem__), max(losses, key=losses.__getitem__)
    if at_home:
        return (
            f"At the known length: between **{losses[best]:.2f}** ({NAMES[best]}) and "
            f"**{losses[worst]:.2f}** nats ({NAMES[worst]}). Ask for more words."
        )
    return (
        f"At words {start + 1} to {end}, **{NAMES[best]}** does best (**{losses[best]:.2f}** nats), "
        f"**{NAMES[worst]}** worst (**{losses[worst]:.2f}**); learned positions have no answer."
    )


def questions() -> tuple[Answer, ...]:
    trained_length = trained("none").task.length
    longest = max(TIMES) * trained_length
    answers = _answers(Inputs().held_out, longest)
    span = _ranges(longest, trained_length)[-1]
    losses = {scheme: loss for scheme, answer in answers.items() if (loss := answer.between(*span))}
    choices = ("sinusoidal", "rotary", "alibi")
    best = min(choices, key=losses.__getitem__)
    home = answers["sinusoidal"].between(0, trained_length) or 0.0
    growth = losses["sinusoidal"] - home
    refused = [scheme for scheme, answer in answers.items() if answer.losses is None]
    offered = ("none", "learned", "t5")
    return (
        Answer.of(
            choices.index(best),
            options=tuple(NAMES[scheme] for scheme in choices),
            each=", ".join(f"{NAMES[scheme]} {losses[scheme]:.2f}" for scheme in choices),
            first=span[0] + 1,
            span=span,
        ),
        Answer.of(
            offered.index(refused[0]),
            options=tuple(NAMES[scheme] for scheme in offered),
            refusal=answers[refused[0]].refusal,
        ),
        Answer.of(0 if growth < 0.2 else 1, home=home, losses=losses),
    )


SMALL = Note("Seven small models and one seed do not show which scheme is best in large ones.")
PART = part(__name__, ("times", "held_out", SMALL), lesson, questions, walks="times")
