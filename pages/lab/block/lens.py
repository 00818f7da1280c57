"""The logit lens: what a model would answer if its stack ended early.

nostalgebraist 2020, interpreting GPT: the logit lens. The model's own last norm
and output layer read the residual stream after every layer, as they read it after the last one.
"""

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_lab.models.data.tasks import Reading
from attention_lab.models.engine.depth import check_adds
from attention_lab.models.zoo.model import Model
from attention_lab.pages.lab import any_model
from attention_lab.pages.lab.any_model import ANOTHER
from attention_lab.pages.lab.block.inputs import MAX_POSITIONS, Inputs
from attention_lab.pages.lab.lesson import Answer, Lesson, When, part
from attention_lab.viz_core.boards import Bars, Matrix, Scrub
from attention_lab.viz_core.labels import tick_labels, visible

Logits = Float[Tensor, "level position word"]


class LensReading(NamedTuple):
    """A text under the lens. passed: how many layers the stream of each level has gone through, 0 being the
    embedding; levels are before and after layers that attend.
    """

    tokens: list[str]
    words: tuple[str, ...]
    logits: Logits
    d_model: int
    passed: tuple[int, ...]


def read_levels(model: Model, reading: Reading) -> LensReading:
    """Logits at every level: the model reads the text again with the stream of that level in place of the
    last layer's, so that whatever follows its layers is its own.

    Raises ValueError for a model whose positions have no answers of their own.
    """
    check_adds(model, model.name)
    side = list(reading.tokens)[-1]
    layers = model.attention(f"{side}.self").layers
    addresses = [f"{side}.{layers[0]}.resid_pre", *(f"{side}.{n}.resid_post" for n in layers)]
    sources = {*addresses, "logits"}
    whole = model.trace(reading, reduce=lambda address, x: x if address in sources else None)
    tokens, words = reading.tokens[side], model.names(reading)
    if not words or len(whole["logits"]) != len(tokens):
        raise ValueError(
            f"{model.name!r} does not answer at each position; choose a model that says the next "
            "word, or a hidden one"
        )

    def ended_with(stream: Tensor) -> Tensor:
        """The model's logits where `stream` stands at the address that is the last of its layers'."""
        trace = model.trace(
            reading,
            reduce=lambda address, x: x if address == "logits" else None,
            edit=lambda address, x: stream if address == addresses[-1] else x,
        )
        logits: Tensor = trace["logits"]
        return logits

    earlier = [ended_with(whole[at]) for at in addresses[:-1]]
    logits = torch.stack([*earlier, whole["logits"]])[..., : len(words)]
    return LensReading(
        tokens, tuple(words), logits, whole[addresses[0]].shape[-1], (layers[0], *(n + 1 for n in layers))
    )


def answers(logits: Logits) -> Int[Tensor, "level position"]:
    """The word that each level finds the likeliest."""
    return logits.argmax(dim=-1)


def probability_of(logits: Logits, words: Int[Tensor, "*level position"]) -> Float[Tensor, "level position"]:
    """The probability at each level of one word for each position, or of one for each level and position."""
    words = words.expand(logits.shape[:2])
    return logits.softmax(dim=-1).gather(-1, words[..., None])[..., 0]


def rank_of(logits: Logits, words: Int[Tensor, "position"]) -> Int[Tensor, "level position"]:
    """The place of a word in the order of each level: 1 is the likeliest."""
    own = logits.gather(-1, words.expand(logits.shape[:2])[..., None])
    return 1 + (logits > own).sum(dim=-1)


def entropy(logits: Logits) -> Float[Tensor, "level position"]:
    """The entropy of each level's distribution, in nats."""
    p = logits.softmax(dim=-1)
    return -(p * p.clamp(min=1e-30).log()).sum(dim=-1)


def divergence(logits: Logits) -> Float[Tensor, "level position"]:
    """KL(final || level) in nats: what is lost by answering from there; 0 at the last level."""
    log_p = logits.log_softmax(dim=-1)
    return (log_p[-1].exp() * (log_p[-1] - log_p)).sum(dim=-1)


def settled(logits: Logits) -> Int[Tensor, "position"]:
    """The first level from which on the likeliest word is the final one."""
    same = answers(logits) == answers(logits)[-1]  # [level, position]
    agreeing = same.flip(0).cumprod(dim=0).sum(dim=0)  # how many levels, counted from the last
    return len(logits) - agreeing


ANSWERS = {"shakespeare": "next letter", "masked": "word"}
TEXTS = (
    When("reader", "shakespeare", ("prompt",)), When("reader", "masked", ("hidden",)),
    When("reader", ANOTHER, (any_model.MODEL,)),
)  # fmt: skip
MOST_LEVELS = 32
"""The passes that the price of another model is reckoned with."""
MOST_NUMBERS = 40_000_000


def lesson(inputs: Inputs) -> Lesson:
    read = _read(inputs)
    n_levels, n, n_words = read.logits.shape
    names = [f"layer {passed}" if passed else "embedding" for passed in read.passed]
    best = answers(read.logits)
    final, ranks = best[-1], rank_of(read.logits, best[-1]).float()
    lost, spread = divergence(read.logits), entropy(read.logits)
    in_column = np.repeat(np.eye(n, dtype=bool)[:, None, :], n_levels, axis=1)  # [frame, level, position]

    def bars(title: str, values: Tensor, y_label: str = "", digits: int = 2, reach: float = 0) -> Bars:
        """[level, position] as a frame for each position; by default with room above the tallest bar."""
        return Bars(
            title=title, values=values.T.contiguous().numpy(), y_label=y_label, digits=digits, axis="after",
            labels=[name.replace("embedding", "embed") for name in names],
            reach=reach or 1.15 * values.max().item(),
        )  # fmt: skip

    return Lesson(
        numbers={"answer": ANSWERS.get(inputs.reader, "word")},
        rows=[
            [
                Matrix(
                    title="the likeliest answer after each layer, by its probability", marked=in_column,
                    values=probability_of(read.logits, best).numpy(), scale="weights", quantity="probability",
                    texts=[[visible(read.words[id_], max_length=9) for id_ in row] for row in best.tolist()],
                    rows=names, row_axis="after", column_axis="position",
                    columns=tick_labels(read.tokens, max_length=9, escaped=False),
                )
            ],
            [
                bars("probability of the final answer", probability_of(read.logits, final), reach=1.1),
                bars("its rank (1 = likeliest)", ranks, digits=0),
            ],
            [bars("KL from the final distribution", lost, "nats"), bars("entropy", spread, "nats")],
        ],
        notice=_notices(read, names),
        scrub=Scrub(
            "at", "position", np.arange(n),
            [f"“{name}”" for name in tick_labels(read.tokens, escaped=False)], speed=2,
        ),
        sizes=rf"L={n_levels - 1},\; n={n},\; d_{{model}}={read.d_model},\; \text{{words}}={n_words}",
        axes={"level": n_levels, "position": n, "d_model": read.d_model, "word": n_words},
        code=(read_levels, answers, probability_of, rank_of, entropy, divergence),
    )  # fmt: skip


def _read(inputs: Inputs) -> LensReading:
    """The text under the lens.

    Raises ValueError, with a sentence, for a text that the model or the page cannot take.
    """
    if inputs.reader == ANOTHER:
        read = any_model.read(inputs, most=MAX_POSITIONS, passes=MOST_LEVELS)
        _check_size(read)
        return read_levels(read.model, read.reading)
    text = inputs.prompt if inputs.reader == "shakespeare" else inputs.hidden
    if not text.strip():
        raise ValueError("The text is empty; type at least one word.")
    shipped = replace(inputs, other=inputs.reader, other_text=text)
    return read_levels(*any_model.text(shipped, most=MAX_POSITIONS))


def _check_size(read: any_model.ModelReading) -> None:
    """Raises ValueError where the probabilities of all words, at all levels and positions, are too many."""
    n_tokens, n_words = len(list(read.reading.tokens.values())[-1]), len(read.model.names(read.reading))
    each = (read.attention.n_layers + 1) * max(1, n_words)
    if n_tokens * each > MOST_NUMBERS:
        raise ValueError(
            f"{read.attention.n_layers + 1} levels, {n_tokens} positions and {n_words:,} words make "
            f"{n_tokens * each:,} probabilities, more than {MOST_NUMBERS:,}: shorten the text to "
            f"{MOST_NUMBERS // each} tokens."
        )


def _notices(read: LensReading, names: list[str]) -> list[str]:
    """One sentence a position; names: of the levels."""
    best, since = answers(read.logits), settled(read.logits).tolist()
    sure = probability_of(read.logits, best[-1])[-1].tolist()
    levels = [name.replace("embed", "the embed") for name in names]
    notices = []
    for at, token in enumerate(map(visible, read.tokens)):
        final = visible(read.words[int(best[-1, at])])
        lead = f"leads from **{levels[since[at]]}** on"
        if since[at] == len(levels) - 1:
            lead = f"leads only after the last, **{levels[-1]}**"
        notices.append(f"At “{token}” the final answer “{final}” (**{sure[at]:.2f}**) {lead}.")
    return notices


def questions() -> tuple[Answer, ...]:
    letters = _read(Inputs())
    words = _read(Inputs(reader="masked"))
    repeats = [
        letters.words[word] == token
        for word, token in zip(answers(letters.logits)[0].tolist(), letters.tokens, strict=True)
    ]
    loss = divergence(letters.logits).mean(dim=1).tolist()
    steps = [before - after for before, after in pairwise(loss[1:])]
    mask = words.tokens.index("[MASK]")
    guesses = [words.words[word] for word in answers(words.logits)[1:, mask].tolist()]
    exact = (divergence(letters.logits)[-1] == 0).all().item()
    return (
        Answer.of(0 if np.mean(repeats) > 0.9 else 2, n_repeats=sum(repeats), n_positions=len(repeats)),
        Answer.of(
            len(steps) - 1 - int(np.argmax(steps)),
            options=tuple(f"layer {n}" for n in range(len(loss) - 1, 1, -1)),
            each=", ".join(f"{value:.2f} after layer {n}" for n, value in enumerate(loss) if n),
        ),
        Answer.of(
            sorted({*guesses, "animal"}).index(guesses[-1]),
            options=tuple(sorted({*guesses, "animal"})),
            each=" ".join(
                f"{'Then ' if n > 1 else ''}“{guess}” after layer {n}."
                for n, guess in enumerate(guesses, start=1)
            ),
            story=" What is read after the last layer is the model's own answer." if exact else "",
        ),
    )


PART = part(__name__, ("reader", *TEXTS), lesson, questions, scrub="at")
