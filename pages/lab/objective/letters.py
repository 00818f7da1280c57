"""How surprised a model is by each token of a real text, in nats, bits, and as perplexity."""

import math
import re
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_lab.models.data.tasks import Reading
from attention_lab.models.zoo.model import Model
from attention_lab.pages.lab import any_model
from attention_lab.pages.lab.any_model import ANOTHER
from attention_lab.pages.lab.lesson import Answer, Lesson, Note, Shape, When, part
from attention_lab.pages.lab.objective import loss
from attention_lab.pages.lab.objective.inputs import MODEL, OTHER, TARGET, Inputs
from attention_lab.pages.lab.objective.loss import bits
from attention_lab.pages.shared import cache, on_offer
from attention_lab.pages.shared.phrases import plain
from attention_lab.viz_core.boards import Bars, Curves, Fact, Facts, Line, Panel
from attention_lab.viz_core.labels import visible

_BYTES = re.compile("(?:<0x[0-9A-F]{2}>)+")
"""Tokens that are no characters, as models name them."""


@dataclass(frozen=True)
class Reader:
    """What a language model expected at each token but the first, before which it has read nothing.

    tokens: those that were predicted. nats: -ln of the probability that each had. n_words: of the whole text;
    n_characters and n_bytes (in UTF-8): of what the predicted tokens spell. n_choices: tokens that the model
    chooses from.
    """

    tokens: list[str]
    nats: Float[Tensor, " token"]
    n_words: int
    n_characters: int
    n_bytes: int
    n_choices: int

    @property
    def by_letter(self) -> bool:
        """Whether every token is one character."""
        return len(self.tokens) == self.n_characters and all(len(token) == 1 for token in self.tokens)

    @property
    def bits_in_all(self) -> float:
        return bits(self.nats.sum()).item()

    @property
    def bits_per_token(self) -> float:
        return bits(self.nats.mean()).item()

    @property
    def bits_per_character(self) -> float:
        return self.bits_in_all / self.n_characters

    @property
    def bits_per_byte(self) -> float:
        return self.bits_in_all / self.n_bytes

    @property
    def bits_per_word(self) -> float:
        """All bits of the text over its words: the same surprise, counted in larger pieces."""
        return self.bits_in_all / self.n_words

    @property
    def perplexity(self) -> float:
        """e^nats: how many equally likely tokens would surprise as much, on average."""
        return self.nats.mean().exp().item()


@torch.no_grad()
def surprise(lm: Model, reading: Reading) -> Reader:
    """-ln p(token | all tokens before it), for each token from the second on.

    Raises ValueError for a model that does not say at each token which one follows, for what it does not
    know, and where there is no second token.
    """
    check_continues(lm)
    if reading.unknown:
        raise ValueError(f"the model has never seen {reading.unknown[0].text!r}; leave it out")
    (ids,) = reading.inputs  # [1, token]
    spelt = _spelt(reading)
    if ids.shape[1] < 2 or not spelt or not reading.text.split():
        raise ValueError("the text has no letter after its first token; write more")
    trace = lm.trace(reading, reduce=lambda address, x: x if address == "logits" else None)
    log_p = trace["logits"][:-1].double().log_softmax(dim=-1)  # [token, choice]
    nats = -log_p[torch.arange(len(log_p)), ids[0, 1:].to(log_p.device)]
    return Reader(
        tokens=reading.tokens["decoder"][1:],
        nats=nats,
        n_words=len(reading.text.split()),
        n_characters=len(spelt.decode(errors="ignore")),
        n_bytes=len(spelt),
        n_choices=log_p.shape[-1],
    )


def check_continues(lm: Model) -> None:
    """Raises ValueError for a model that does not say which token follows."""
    if "continue" not in lm.abilities:
        raise ValueError(
            f"{lm.name!r} does not say which token follows; choose a model that continues texts, "
            "such as shakespeare or a GPT"
        )


def _spelt(reading: Reading) -> bytes:
    """The text without the first token, which is given; all of it where that one spells nothing of it."""
    text, first = reading.text.encode(), reading.tokens["decoder"][0]
    is_bytes = _BYTES.fullmatch(first)
    raw = bytes.fromhex(re.sub("<0x|>", "", first)) if is_bytes else first.encode()
    return next((text.removeprefix(own) for own in (raw, raw.lstrip()) if own and text.startswith(own)), text)


def running_mean(values: Float[Tensor, " token"]) -> Float[Tensor, " token"]:
    """The mean of the first 1, 2, 3, ... values."""
    return values.cumsum(dim=0) / torch.arange(1, len(values) + 1)


NAME = "shakespeare"
MOST_TOKENS = 128
RANDOM = "qzxj vkwq pxgh zvvb jjqx wkzf"
GIVEN = Note("The first token is given.")


def lesson(inputs: Inputs) -> Lesson:
    read, held_out = _read(inputs)
    n, surprises = len(read.nats), loss.bits(read.nats)
    unit = "letter" if read.by_letter else "token"
    per, guess = "character" if read.by_letter else "token", math.log2(read.n_choices)
    lines = [Line(loss.bits(running_mean(read.nats)).numpy(), "this text", MODEL)]
    if held_out is not None:
        lines.append(Line(np.full(n, held_out), "held-out Shakespeare", OTHER, dashed=True))
    lines.append(Line(np.full(n, guess), f"a guess among {read.n_choices:,}", TARGET, dashed=True))
    return Lesson(
        see=_see(inputs, unit),
        rows=[
            [
                Bars(
                    values=surprises.numpy(), labels=[visible(token, max_length=9) for token in read.tokens],
                    title=f"surprise at each {unit}", x_label=f"{unit} that came", y_label="bits",
                    colour=MODEL, digits=1, reach=1.15 * surprises.max().item(),
                )
            ],
            [
                Curves(
                    x=np.arange(1, n + 1), title=f"bits per {per} so far", x_label=f"{unit}s predicted",
                    y_label=f"bits per {per}", lines=lines,
                    y_range=(0, max(1.25 * guess, 1.05 * surprises.max().item())),
                ),
                _facts(read, held_out, unit),
            ],
        ],
        notice=_notice(read, unit, guess),
        sizes=rf"T = {n},\; \text{{characters}} = {read.n_characters},\; \ln 2 = {math.log(2):.4f}",
        shapes=(
            Shape("x", f"sentence, {unit}", (1, n + 1)),
            Shape(r"\ln p", f"{unit}, choice", (n, read.n_choices)),
            Shape(r"-\ln p(x_t \mid x_{<t})", unit, (n,)),
        ),
        code=(surprise, Reader, running_mean, loss.bits),
    )  # fmt: skip


def _read(inputs: Inputs) -> tuple[Reader, float | None]:
    """What the model expected of the text, and its bits on held-out text, where the page knows them.

    Raises ValueError, with a sentence, for a text or a model that has none.
    """
    if inputs.reader == ANOTHER:
        check_continues(cache.model(inputs.other))
        return surprise(*any_model.text(inputs, most=MOST_TOKENS)), None
    lm = cache.trained(NAME)
    return surprise(lm, lm.read(inputs.text)), lm.card["metrics"]["bits per character"]


def _see(inputs: Inputs, unit: str) -> str:
    who = "The shipped Shakespeare model"
    if inputs.reader == ANOTHER:
        who = f"**{plain(on_offer.title(inputs.other))}**"
    why = (
        ""
        if unit == "letter"
        else " Its tokens are more than a letter: **compare bits per character or byte**."
    )
    return (
        f"{who} reads a text {unit} by {unit}. Each bar is **−log₂ of the probability that it gave "
        f"the {unit} that came**.{why}"
    )


def _facts(read: Reader, held_out: float | None, unit: str) -> Panel:
    facts = [
        ("cross-entropy", read.nats.mean().item(), 3, f"nats per {unit}"),
        ("divided by ln 2", read.bits_per_token, 3, f"bits per {unit}"),
        ("perplexity, e^nats = 2^bits", read.perplexity, 2, f"({read.n_choices:,} {unit}s)"),
        ("the whole text", read.bits_in_all, 1, "bits"),
        (f"over {read.n_words} words", read.bits_per_word, 1, "bits per word"),
    ]
    if unit == "token":
        facts += [
            (f"over {read.n_characters} characters", read.bits_per_character, 3, "bits per character"),
            (f"over {read.n_bytes} bytes", read.bits_per_byte, 3, "bits per byte"),
        ]
    if held_out is not None:
        facts.append(("held-out Shakespeare", held_out, 3, "bits per letter"))
    return Facts.of(*(Fact(label, np.array(value), digits, unit) for label, value, digits, unit in facts))


def _notice(read: Reader, unit: str, guess: float) -> str:
    worst = int(read.nats.argmax())
    hard = (
        f"like guessing among **{read.perplexity:,.1f}** equally likely {unit}s, the perplexity"
        if read.perplexity <= read.n_choices
        else f"**worse than guessing** among its {read.n_choices:,} {unit}s, at {guess:.2f} bits"
    )
    spelt = "" if unit == "letter" else f", **{read.bits_per_character:.2f}** per character"
    return (
        f"**{read.bits_per_token:.2f}** bits per {unit}{spelt}: {hard}. Greatest surprise: "
        f"“{visible(read.tokens[worst])}”, {unit} {worst + 2}."
    )


def questions() -> tuple[Answer, ...]:
    lm = cache.trained(NAME)
    read = surprise(lm, lm.read(Inputs().text))
    begins = np.array([before == " " for before in read.tokens[:-1]])
    costs = read.nats[1:].numpy() / math.log(2)
    first, later = costs[begins].mean(), costs[~begins].mean()
    random = surprise(lm, lm.read(RANDOM)).bits_per_token
    guess = math.log2(read.n_choices)
    words = read.bits_per_word  # the same text and surprise, told by letter and by word
    pairs = (
        (read.perplexity, 2**words),
        (read.bits_per_token, words * read.n_words / len(read.tokens)),
        (read.nats.mean().item(), words * math.log(2)),
    )
    return (
        Answer.of(
            int(np.argmin([abs(math.log(by_letter / by_word)) for by_letter, by_word in pairs])),
            read=read,
            per_word=2**words,
        ),
        Answer.of(
            0 if random < guess - 0.25 else 2 if random > guess + 0.25 else 1,
            read=read,
            guess=guess,
            random=random,
        ),
        Answer.of(0 if first > 1.1 * later else 1 if later > 1.1 * first else 2, first=first, later=later),
    )


CONTROLS = ("reader", When("reader", ANOTHER, (any_model.MODEL,), ("text",)), GIVEN)
PART = part(__name__, CONTROLS, lesson, questions)
