"""Sampling: temperature, top-k and top-p on one step's distribution, and whole sentences drawn by chance."""

import numpy as np
from torch import Tensor

from models.engine.decoding import distribution
from models.lessons.translation import sampling
from models.lessons.translation.reading import Reading
from models.lessons.translation.sampling import Spread, entropy
from pages.lab.controls import Columns, Own
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.translation import drawn_sentences, sentence_choice
from pages.lab.translation.inputs import INCOMPLETE, MAX_STEPS, Inputs
from pages.lab.translation.sentence_choice import reading_of
from pages.shared.state import State
from viz_core.boards import Bars, Board, Colour, Fact, Facts, Scrub

TEMPERATURES = np.concatenate([np.arange(2, 20) / 20, np.arange(4, 17) / 4])  # 0.1, 0.15 ... 1, 1.25 ... 4
N_WORDS = 8
SEE = (
    "This is one step of the decoder, after the words that greedy decoding wrote. **Temperature** divides "
    "the logits: below 1 it sharpens the choice, above 1 it flattens it. **Top-k** keeps the k likeliest "
    "words, **top-p** the fewest that together reach p; the rest is cut, and what is kept is scaled to "
    "add up to 1. **Drag the slider.**"
)
TRIES = (
    Try("hot: 3", {"temperature": 3.0, "top_k": 0, "top_p": 1.0}),
    Try("hot, but top-k 3", {"temperature": 3.0, "top_k": 3, "top_p": 1.0}),
    Try("hot, but top-p 0.75", {"temperature": 3.0, "top_k": 0, "top_p": 0.75}),
)


def lesson(inputs: Inputs) -> Lesson:
    read = reading_of(inputs.phrase, inputs.phrase_direction)
    step = min(inputs.word, len(read.written)) - 1
    spread = _spread(read, step, inputs)
    k, p = inputs.top_k or "all", inputs.top_p
    return Lesson(
        see=SEE,
        board=Board(
            rows=[_bars(read, step, spread), [_facts(spread)], [drawn_sentences.table(inputs)]],
            notice=_notices(read, step, spread),
            scrub=Scrub(field="temperature", label="temperature", values=TEMPERATURES, speed=6),
        ),
        formula=(
            r"\begin{gathered}p_i=\frac{e^{z_i/T}}{\sum_j e^{z_j/T}},\qquad H=-\textstyle\sum_i p_i\ln p_i\\"
            r"p'_i=p_i\,/\textstyle\sum_{j\in K}p_j\text{ for the kept words } K\text{, else } 0"
            r"\end{gathered}"
        ),
        sizes=rf"k=\text{{{k}}},\; p={p:g},\; |V|={len(read.vocabulary):,}",
        shapes=(
            Shape("z", "vocab", (len(read.vocabulary),)),
            Shape("p,\\;p'", "temperature, vocab", tuple(spread.cut.shape)),
            Shape(
                r"\text{sentences}",
                "temperature, sentence",
                (len(drawn_sentences.TEMPERATURES), drawn_sentences.N_DRAWN),
            ),
        ),
        code=(distribution, sampling.spread, sampling.entropy, sampling.sentences),
    )


def _word(state: State) -> None:
    """Which word to look at; a link may name one that this sentence does not have: then its last is shown."""
    try:
        written = reading_of(state.kept["phrase"], state.kept["phrase_direction"]).written
    except ValueError:
        written = []  # what is wrong with the sentence is said above the board
    names = dict(enumerate(written, start=1))
    state.draw(
        "word", options=range(1, MAX_STEPS + 1),
        format_func=lambda at: f"{at}: {names.get(at, '(after the end)')}",
    )  # fmt: skip


def _spread(read: Reading, step: int, inputs: Inputs) -> Spread:
    return sampling.spread(read.logits[step], TEMPERATURES.tolist(), *drawn_sentences.cut(inputs))


def _bars(read: Reading, step: int, spread: Spread) -> list[Bars]:
    likeliest = read.logits[step].topk(N_WORDS).indices  # the order is the same at every temperature
    names = [read.vocabulary[id_] for id_ in likeliest.tolist()]
    shown: tuple[tuple[str, Tensor, Colour], ...] = (
        (f"softmax(logits / T): the {N_WORDS} likeliest words", spread.whole, "muted"),
        ("what is drawn from, after the cut", spread.cut, "accent"),
    )
    return [
        Bars(title=title, values=p[:, likeliest].numpy(), labels=names, reach=1.1, axis="word", colour=colour)
        for title, p, colour in shown
    ]


def _facts(spread: Spread) -> Facts:
    before, after = entropy(spread.whole), entropy(spread.cut)
    return Facts(
        facts=(
            Fact(label="words kept", values=spread.n_kept.float().numpy(), digits=0),
            Fact(label="probability kept", values=spread.kept_mass.numpy(), digits=3),
            Fact(label="entropy before the cut", values=before.numpy(), unit="nats"),
            Fact(label="entropy after it", values=after.numpy(), unit="nats"),
            Fact(label="perplexity after it, e^entropy", values=after.exp().numpy(), digits=1),
        )
    )


def _notices(read: Reading, step: int, spread: Spread) -> list[str]:
    word, before = read.written[step], " ".join(read.written[:step][-3:]) or "<bos>"
    id_ = read.vocabulary.index(word)
    told = []
    for t, whole, cut, n, mass in zip(
        TEMPERATURES, spread.whole[:, id_], spread.cut[:, id_], spread.n_kept, spread.kept_mass, strict=True
    ):
        kept = (
            "Nothing is cut." if n == len(read.vocabulary) else
            f"The cut keeps {n:,} of {len(read.vocabulary):,} words with {mass:.3f} of the probability; "
            f"“{word}” then has **{cut:.2f}**."
        )  # fmt: skip
        told.append(
            f"After “… {before}”, at T = {t:g}, the likeliest word, “{word}”, has **{whole:.2f}**. {kept}"
        )
    return told


def questions() -> tuple[Question, ...]:
    read = reading_of(INCOMPLETE, "fr-en")
    step = Inputs().word - 1
    logits, temperatures = read.logits[step], [0.1, 1.0, 3.0]
    cold, usual, hot = sampling.spread(logits, temperatures, None, None).whole.amax(dim=-1).tolist()
    three = sampling.spread(logits, [1.0, 3.0], 3, None)
    nucleus = sampling.spread(logits, [1.0, 3.0], None, 0.75).n_kept.tolist()
    order = bool((logits.topk(5).indices == (logits / 3).topk(5).indices).all())
    counts = ("more", "fewer", "as many")
    return (
        Question(
            f"The likeliest word has {usual:.2f} at T = 1. What does heating to T = 3 do?",
            ("another word becomes likeliest", "the order stays, its share falls", "its share grows"),
            1 if order and hot < usual else 2,
            f"{hot:.2f} at T = 3 and {cold:.2f} at T = 0.1: dividing all logits by the same T keeps their "
            "order.",
        ),
        Question(
            "Top-p is 0.75, and the temperature rises from 1 to 3. How many words are kept?",
            counts,
            0 if nucleus[1] > nucleus[0] else 2,
            f"{nucleus[1]:,} instead of {nucleus[0]:,}: a flatter distribution takes more words to reach "
            "0.75.",
        ),
        Question(
            "Top-k is 3, and the temperature rises from 1 to 3. How many words are kept?",
            counts,
            2 if three.n_kept[0] == three.n_kept[1] else 0,
            f"Always 3. They have {three.kept_mass[0]:.2f} of the probability at T = 1 and "
            f"{three.kept_mass[1]:.2f} at T = 3.",
        ),
    )


PART = Part(
    "sampling", "Sampling",
    (*sentence_choice.PHRASE, Own(_word, ("word",)), Columns((("top_k",), ("top_p",))), "seed"),
    lesson, TRIES, questions, scrub="temperature",
)  # fmt: skip
