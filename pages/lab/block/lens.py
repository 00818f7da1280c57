"""Part 4: a trained model's residual stream, read by its output layer after every layer."""

from itertools import pairwise

import numpy as np
from torch import Tensor

from models.lessons.block import lens
from models.lessons.block.lens import Read
from pages.lab import any_model
from pages.lab.any_model import ANOTHER
from pages.lab.block.inputs import HIDDEN, MAX_POSITIONS, PROMPT, Inputs
from pages.lab.controls import When
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.shared import cache
from viz_core.boards import Bars, Board, Matrix, Scrub
from viz_core.labels import tick_labels, visible

SEE = (
    "A trained model reads a text. After **every** layer, the residual stream is handed to the last norm "
    "and the output layer, as if the stack ended there: each cell shows the likeliest {answer}, coloured by "
    "its probability. **Drag the slider to a position** for the numbers below."
)
ANSWERS = {"shakespeare": "next letter", "masked": "word"}
TEXTS = (
    When("reader", "shakespeare", ("prompt",)), When("reader", "masked", ("hidden",)),
    When("reader", ANOTHER, (any_model.MODEL,)),
)  # fmt: skip
MOST_LEVELS = 32
"""The passes that the price of another model is reckoned with."""
MOST_NUMBERS = 40_000_000
TRIES = (
    Try("the middle of a word", {"reader": "shakespeare", "prompt": PROMPT, "at": 8}),
    Try("after a blank", {"reader": "shakespeare", "prompt": PROMPT, "at": 10}),
    Try("a hidden word", {"reader": "masked", "hidden": HIDDEN, "at": 7}),
)


def lesson(inputs: Inputs) -> Lesson:
    tied, read = _read(inputs)
    levels, n, n_words = read.logits.shape
    d_model = read.d_model
    return Lesson(
        see=SEE.format(answer=ANSWERS.get(inputs.reader, "word")),
        board=Board(
            rows=[[_answers(read)], *_bars(read)],
            notice=_notices(read, tied),
            scrub=Scrub(
                field="at", label="position", values=np.arange(n), speed=2,
                words=[f"“{name}”" for name in tick_labels(read.tokens, escaped=False)],
            ),
        ),
        formula=(
            r"\begin{gathered}p_l=\mathrm{softmax}\!\left(\mathrm{LN}_{\text{last}}(x_l)\,W_U\right)\\"
            r"\mathrm{KL}(p_L\,\Vert\,p_l)=\sum_w p_L(w)\,\ln\frac{p_L(w)}{p_l(w)}\end{gathered}"
        ),
        sizes=rf"L={levels - 1},\; n={n},\; d_{{model}}={d_model},\; \text{{words}}={n_words}",
        shapes=(
            Shape("x_l", "level, position, d_model", (levels, n, d_model)),
            Shape("W_U", "d_model, word", (d_model, n_words)),
            Shape("p_l", "level, position, word", (levels, n, n_words)),
            Shape(r"\mathrm{KL}", "level, position", (levels, n)),
        ),
        code=(
            lens.read, lens.answers, lens.probability_of, lens.rank_of, lens.entropy,
            lens.divergence,
        ),
    )  # fmt: skip


def _read(inputs: Inputs) -> tuple[bool, Read]:
    """The text under the lens, and whether input and output are known to share one matrix.

    Raises ValueError, with a sentence, for a text that the model or the page cannot take.
    """
    if inputs.reader == ANOTHER:
        read = any_model.read(inputs, most=MAX_POSITIONS, passes=MOST_LEVELS)
        _check_size(read)
        return False, lens.read(read.model, read.reading)
    model = cache.trained(inputs.reader)
    text = inputs.prompt if inputs.reader == "shakespeare" else inputs.hidden
    if not text.strip():
        raise ValueError("The text is empty; type at least one word.")
    reading = model.read(text)
    n = len(reading.tokens[model.config.stacks[0]])
    if n > MAX_POSITIONS:
        raise ValueError(
            f"The text has {n} positions; this page draws at most {MAX_POSITIONS}; "
            f"shorten it by {n - MAX_POSITIONS}."
        )
    return model.config.tied_embeddings, lens.read(model, reading)


def _check_size(read: any_model.Read) -> None:
    """Raises ValueError where the probabilities of all words, at all levels and positions, are too many."""
    n_tokens, n_words = len(list(read.reading.tokens.values())[-1]), len(read.model.names(read.reading))
    each = (read.attention.n_layers + 1) * max(1, n_words)
    if n_tokens * each > MOST_NUMBERS:
        raise ValueError(
            f"{read.attention.n_layers + 1} levels of {n_tokens} positions and {n_words:,} words are "
            f"{n_tokens * each:,} probabilities; at most {MOST_NUMBERS:,} are computed: shorten the text to "
            f"{MOST_NUMBERS // each} tokens, or choose a smaller model."
        )


def _levels(read: Read) -> list[str]:
    return [f"layer {n}" if n else "embedding" for n in read.passed]


def _answers(read: Read) -> Matrix:
    """[level, position], the deepest level below; the column of each frame's position is marked."""
    best = lens.answers(read.logits)
    n_levels, n = best.shape
    marked = np.repeat(np.eye(n, dtype=bool)[:, None, :], n_levels, axis=1)  # [frame, level, position]
    return Matrix(
        title="the likeliest answer after each layer, by its probability",
        values=lens.probability_of(read.logits, best).numpy(), scale="weights", marked=marked,
        texts=[[visible(read.words[word], max_length=9) for word in row] for row in best.tolist()],
        rows=_levels(read), row_axis="after",
        columns=tick_labels(read.tokens, max_length=9, escaped=False), column_axis="position",
    )  # fmt: skip


def _bars(read: Read) -> list[list[Bars]]:
    """Bars of the final answer and of the whole distribution, [frame = position, level]."""
    final, labels = (
        lens.answers(read.logits)[-1],
        ["embed" if name == "embedding" else name for name in _levels(read)],
    )
    ranks = lens.rank_of(read.logits, final).float()
    lost, spread = lens.divergence(read.logits), lens.entropy(read.logits)
    pictures = {
        "probability of the final answer": (lens.probability_of(read.logits, final), "", 2, 1.1),
        "its rank (1 = likeliest)": (ranks, "", 0, _room(ranks)),
        "KL from the final distribution": (lost, "nats", 2, _room(lost)),
        "entropy": (spread, "nats", 2, _room(spread)),
    }
    panels = [
        Bars(
            title=title, values=values.T.contiguous().numpy(), labels=labels, y_label=unit, digits=digits,
            reach=reach, axis="after",
        )
        for title, (values, unit, digits, reach) in pictures.items()
    ]  # fmt: skip
    return [panels[:2], panels[2:]]


def _room(values: Tensor) -> float:
    """The height of the bars' axis, with room for a number above the tallest bar."""
    return 1.15 * values.max().item()


def _notices(read: Read, tied: bool) -> list[str]:
    """One sentence a position."""
    best, since = lens.answers(read.logits), lens.settled(read.logits).tolist()
    sure = lens.probability_of(read.logits, best[-1])[-1].tolist()
    levels = [name.replace("embed", "the embed") for name in _levels(read)]
    begun = f"{levels[0]} alone".capitalize()
    after_one = lens.divergence(read.logits)[1].tolist()
    notices = []
    for at, token in enumerate(map(visible, read.tokens)):
        first, final = (visible(read.words[int(best[level, at])]) for level in (0, -1))
        same = ", the token itself: input and output share one matrix" if tied and first == token else ""
        notices.append(
            f"At “{token}” the final answer “{final}” (**{sure[at]:.2f}**) leads from "
            f"**{levels[since[at]]}** on; after {levels[1]}, the KL divergence from the end is "
            f"**{after_one[at]:.2f}** nats. {begun} says “{first}”{same}."
        )
    return notices


def questions() -> tuple[Question, ...]:
    _, letters = _read(Inputs())
    _, words = _read(Inputs(reader="masked"))
    repeats = [
        letters.words[word] == token
        for word, token in zip(lens.answers(letters.logits)[0].tolist(), letters.tokens, strict=True)
    ]
    loss = lens.divergence(letters.logits).mean(dim=1).tolist()
    steps = [before - after for before, after in pairwise(loss[1:])]
    mask = words.tokens.index("[MASK]")
    guesses = [words.words[word] for word in lens.answers(words.logits)[1:, mask].tolist()]
    exact = (lens.divergence(letters.logits)[-1] == 0).all().item()
    return (
        Question(
            "The output layer reads the embedding, before any layer has run. What does it answer?",
            ("the letter that is read", "the letter that follows", "a random letter"),
            0 if np.mean(repeats) > 0.9 else 2,
            f"At {sum(repeats)} of {len(repeats)} positions the letter itself: embedding and output layer "
            "share one matrix, and every vector is most like itself.",
        ),
        Question(
            "Which layer after the first brings the answer furthest towards the final one?",
            tuple(f"layer {n}" for n in range(len(loss) - 1, 1, -1)),
            len(steps) - 1 - int(np.argmax(steps)),
            "The mean KL from the final distribution is "
            + ", ".join(f"{value:.2f} after layer {n}" for n, value in enumerate(loss) if n)
            + ".",
        ),
        Question(
            "In “the animal did not cross the [MASK]”, which word leads at the end?",
            tuple(sorted({*guesses, "animal"})),
            sorted({*guesses, "animal"}).index(guesses[-1]),
            " Then ".join(f"“{guess}” after layer {n}." for n, guess in enumerate(guesses, start=1))
            + (" What is read after the last layer is the model's own answer." if exact else ""),
        ),
    )


PART = Part(
    "lens", "Logit lens", ("reader", *TEXTS),
    lesson, TRIES, questions, scrub="at",
)  # fmt: skip
