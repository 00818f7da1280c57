"""Biases on the scores: ALiBi's slopes, T5's trained buckets, Transformer-XL's four terms."""

import torch

from models.engine.positions import alibi_slopes, relative_buckets
from models.lessons.positions.biases import half_distance, never_trained
from pages.lab.controls import Note, When
from pages.lab.lesson import Lesson, Part, Question, Try
from pages.lab.positions import alibi, four_terms, t5
from pages.lab.positions.inputs import Inputs
from pages.lab.positions.per_head import N_DISTANCES
from pages.lab.positions.suite import trained

TRIES = (
    Try("ALiBi, the last head", {"bias": "alibi", "heads": 8, "head": 7}),
    Try("T5's trained buckets", {"bias": "t5", "head": 0}),
    Try("Transformer-XL's four terms", {"bias": "transformer-xl", "head": 0}),
)
LESSONS = {"alibi": alibi.lesson, "t5": t5.lesson, "transformer-xl": four_terms.lesson}


def lesson(inputs: Inputs) -> Lesson:
    return LESSONS[inputs.bias](inputs)


def questions() -> tuple[Question, ...]:
    slopes, halves = alibi_slopes(8), half_distance(8)
    sharpest, widest = int(slopes.argmax()), int(slopes.argmin())
    buckets = relative_buckets(torch.tensor([3, 4, 60, 61]), bidirectional=False).tolist()
    shared = 0 if buckets[0] == buckets[1] else 1 if buckets[2] == buckets[3] else 2
    first = int(never_trained(trained("t5").task.length, N_DISTANCES).int().argmax())
    return (
        Question(
            "Eight ALiBi heads get equal scores. Which one spreads its attention furthest back?",
            ("the first", "the last", "all alike"),
            0 if widest == 0 else 1,
            f"Head {widest} halves a word's weight every {halves[widest]:.0f} words, head {sharpest} every "
            f"{halves[sharpest]:.1f}.",
        ),
        Question(
            "Which two distances share one of T5's buckets?",
            ("3 and 4", "60 and 61", "neither pair"),
            shared,
            f"3 and 4 have buckets {buckets[0]} and {buckets[1]}, 60 and 61 have {buckets[2]} and "
            f"{buckets[3]}: far away, one word more or less makes little difference.",
        ),
        Question(
            "The T5 model was trained on 32 words. Is its bias at distance 100 something that it learned?",
            ("yes", "no"),
            0 if first > 100 else 1,
            f"No training text reached the buckets from distance {first} on, so their numbers are still "
            "random.",
            told=True,
        ),
    )


PART = Part(
    "biases", "Biases",
    (
        "bias", When("bias", "alibi", ("heads",)), When("bias", "transformer-xl", ("text", "layer")),
        When(
            "bias", "t5",
            (
                Note(
                    "A small trained model with four heads; both layers share one table.",
                ),
            ),
        ),
    ),
    lesson, TRIES, questions, scrub="head",
)  # fmt: skip
