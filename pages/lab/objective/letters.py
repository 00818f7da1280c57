"""Perplexity and bits per character, of a real text and a shipped model."""

import math

import numpy as np

from models.lessons.objective import bits, entropy
from pages.lab.controls import Note
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.objective.inputs import MODEL, OTHER, TARGET, Inputs
from pages.shared import cache
from viz_core.boards import Bars, Board, Curves, Fact, Facts, Line, Panel
from viz_core.labels import visible

NAME = "shakespeare"
RANDOM = "qzxj vkwq pxgh zvvb jjqx wkzf"
TRIES = (
    Try("a modern text", {"text": "Attention is all you need, said the paper."}),
    Try("shouted", {"text": "TO BE, OR NOT TO BE, THAT IS THE QUESTION"}),
    Try("keys at random", {"text": RANDOM}),
)


def lesson(inputs: Inputs) -> Lesson:
    lm = cache.trained(NAME)
    read = bits.surprise(lm, inputs.text)
    held_out = lm.card["metrics"]["bits per character"]
    return Lesson(
        see="The shipped Shakespeare model reads a text letter by letter. Each bar is the cross-entropy at "
        "one position, **−log₂ of the probability that the model gave the letter that came**: the loss of "
        "the first part, on real text. **Type a text of your own** (at most 64 letters).",
        board=Board(
            rows=[[_bars(read)], [_mean(read, held_out), _facts(read, held_out)]],
            notice=_notice(read),
        ),
        formula=r"\begin{gathered}H = -\frac{1}{T}\sum_{t} \ln p(x_t \mid x_{<t}) \qquad "
        r"\mathrm{perplexity} = e^{H} \\ \text{bits per character} = "
        r"\frac{H}{\ln 2}\cdot\frac{\text{tokens}}{\text{characters}}\end{gathered}",
        sizes=rf"T = {len(read.nats)},\; \ln 2 = {math.log(2):.4f}",
        shapes=(
            Shape("x", "sentence, letter", (1, len(read.nats) + 1)),
            Shape(r"\ln p", "letter, choice", (len(read.nats), read.n_choices)),
            Shape(r"-\ln p(x_t \mid x_{<t})", "letter", tuple(read.nats.shape)),
        ),
        code=(bits.surprise, bits.Reader, bits.running_mean, entropy.bits),
    )


def _bars(read: bits.Reader) -> Panel:
    surprises = entropy.bits(read.nats)
    return Bars(
        values=surprises.numpy(), labels=[visible(letter) for letter in read.letters],
        title="surprise at each letter", x_label="letter that came", y_label="bits", colour=MODEL, digits=1,
        reach=1.15 * surprises.max().item(),
    )  # fmt: skip


def _mean(read: bits.Reader, held_out: float) -> Panel:
    n = len(read.nats)
    guess = math.log2(read.n_choices)
    most = max(1.25 * guess, 1.05 * entropy.bits(read.nats).max().item())
    return Curves(
        x=np.arange(1, n + 1), title="bits per character so far", x_label="letters predicted",
        y_label="bits per character", y_range=(0, most),
        lines=[
            Line(y=entropy.bits(bits.running_mean(read.nats)).numpy(), name="this text", colour=MODEL),
            Line(y=np.full(n, held_out), name="held-out Shakespeare", colour=OTHER, dashed=True),
            Line(y=np.full(n, guess), name=f"a guess among {read.n_choices}", colour=TARGET, dashed=True),
        ],
    )  # fmt: skip


def _facts(read: bits.Reader, held_out: float) -> Panel:
    facts = (
        ("cross-entropy", read.nats.mean().item(), 3, "nats per letter"),
        ("divided by ln 2", read.bits_per_letter, 3, "bits per letter"),
        ("perplexity, e^nats = 2^bits", read.perplexity, 2, f"({read.n_choices} letters)"),
        ("the whole text", read.bits_per_letter * len(read.nats), 1, "bits"),
        (f"over {read.n_words} words", read.bits_per_word, 1, "bits per word"),
        ("held-out Shakespeare", held_out, 3, "bits per letter"),
    )
    return Facts(
        facts=[
            Fact(label=label, values=np.array(value), digits=digits, unit=unit)
            for label, value, digits, unit in facts
        ]
    )


def _notice(read: bits.Reader) -> str:
    worst = int(read.nats.argmax())
    guess = math.log2(read.n_choices)
    hard = (
        f"as hard as guessing among **{read.perplexity:,.1f}** equally likely letters, the perplexity"
        if read.perplexity <= read.n_choices
        else f"**worse than guessing** among its {read.n_choices} letters, which costs {guess:.2f} bits each"
    )
    return (
        f"**{read.bits_per_letter:.2f}** bits per letter: {hard}. The greatest surprise was "
        f"“{visible(read.letters[worst])}”, letter {worst + 2}."
    )


def questions() -> tuple[Question, ...]:
    lm = cache.trained(NAME)
    read = bits.surprise(lm, Inputs().text)
    begins = np.array([before == " " for before in read.letters[:-1]])
    costs = read.nats[1:].numpy() / math.log(2)
    first, later = costs[begins].mean(), costs[~begins].mean()
    random = bits.surprise(lm, RANDOM).bits_per_letter
    guess = math.log2(read.n_choices)
    words = read.bits_per_word  # the same text and surprise, told by letter and by word
    told = (
        (read.perplexity, 2**words),
        (read.bits_per_letter, words * read.n_words / len(read.letters)),
        (read.nats.mean().item(), words * math.log(2)),
    )
    return (
        Question(
            "One model reads letters, another reads words. Which of their numbers can be compared?",
            ("Perplexity", "Bits per character", "Nats per token"),
            int(np.argmin([abs(math.log(by_letter / by_word)) for by_letter, by_word in told])),
            f"For one text and one model, perplexity is {read.perplexity:.1f} per letter and "
            f"{2**words:,.0f} per word. The bits of the whole text, {read.bits_per_letter:.2f} "
            "per character, do not depend on the pieces.",
        ),
        Question(
            f"Guessing among {read.n_choices} letters costs {guess:.2f} bits each. What do random keys "
            "cost this model?",
            ("less", "about as much", "more"),
            0 if random < guess - 0.25 else 2 if random > guess + 0.25 else 1,
            f"{random:.2f} bits per letter: the model is sure that English follows, and pays for being "
            "wrong.",
        ),
        Question(
            "In “To be, or not to be, that is the question”, which letters cost the most bits?",
            ("The first of each word", "Those within words", "Both alike"),
            0 if first > 1.1 * later else 1 if later > 1.1 * first else 2,
            f"{first:.2f} bits on average after a blank, {later:.2f} elsewhere: within a word, the letters "
            "before leave little choice.",
        ),
    )


PART = Part(
    "letters", "Perplexity and bits",
    ("text", Note("The first letter is given: before it the model has read nothing.")),
    lesson, TRIES, questions,
)  # fmt: skip
