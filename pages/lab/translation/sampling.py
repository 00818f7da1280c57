"""Drawing words by chance: temperature, top-k (Fan et al. 2018), top-p (Holtzman et al. 2020, 3.1)."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_lab.models.data.word_tokenizer import BOS, EOS
from attention_lab.models.engine.decoding import NextToken, distribution
from attention_lab.models.engine.transformer import Transformer
from attention_lab.pages.lab.lesson import Answer, Columns, Lesson, Own, part
from attention_lab.pages.lab.translation.inputs import (
    INCOMPLETE,
    MAX_STEPS,
    MOST_STEPS,
    PHRASE_CONTROLS,
    Inputs,
    Reading,
    reading_of,
)
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.state import State
from attention_lab.viz_core.boards import Bars, Fact, Facts, Scrub, Table


class Spread(NamedTuple):
    """One step's distribution at every temperature: uncut, and what is drawn from."""

    whole: Float[Tensor, "temperature vocab"]
    cut: Float[Tensor, "temperature vocab"]

    @property
    def n_kept(self) -> Int[Tensor, " temperature"]:
        """How many words can be drawn."""
        return (self.cut > 0).sum(dim=-1)

    @property
    def kept_mass(self) -> Float[Tensor, " temperature"]:
        """What the kept words had together before the rest was cut."""
        return (self.whole * (self.cut > 0)).sum(dim=-1)


def spread(
    logits: Float[Tensor, " vocab"], temperatures: list[float], top_k: int | None, top_p: float | None
) -> Spread:
    """softmax(logits / T), and the same cut to the likeliest words, at each temperature.

    In float64: in float32 the unlikely words of a cold distribution become 0, as if they were cut.
    """
    z = logits.double()
    whole = [distribution(z, temperature=t) for t in temperatures]
    cut = [distribution(z, temperature=t, top_k=top_k, top_p=top_p) for t in temperatures]
    return Spread(torch.stack(whole), torch.stack(cut))


def entropy(p: Float[Tensor, "temperature vocab"]) -> Float[Tensor, " temperature"]:
    """-sum p ln p in nats; e to this power is how many equally likely words would be as uncertain."""
    return torch.special.entr(p).sum(dim=-1)


@torch.no_grad()
def sentences(
    model: Transformer,
    source: Int[Tensor, "1 source"],
    temperatures: list[float],
    generator: torch.Generator,
    *,
    top_k: int | None,
    top_p: float | None,
    most: int,
) -> list[tuple[int, ...]]:
    """One sentence of at most `most` words for each of the temperatures, drawn word by word.

    What may follow a beginning is the same for all who have it: each different one is computed once.
    """
    next_word = NextToken(model, source)
    begun: list[tuple[int, ...]] = [(BOS,)]  # the different beginnings, a row each
    written = begun * len(temperatures)
    for _ in range(most):
        still = [at for at, words in enumerate(written) if words[-1] != EOS]
        logits = next_word(torch.tensor(begun))  # [beginning, vocab]
        requests = [(begun.index(written[at]), temperatures[at]) for at in still]
        once = sorted(set(requests))
        heated = logits[[row for row, _ in once]] / torch.tensor([[t] for _, t in once])  # [asked, vocab]
        p = distribution(heated, top_k=top_k, top_p=top_p)[[once.index(each) for each in requests]]
        choices = torch.multinomial(p, 1, generator=generator)[:, 0].tolist()
        for at, word in zip(still, choices, strict=True):
            written[at] = (*written[at], word)
        longer = sorted({words for words in written if words[-1] != EOS})
        if not longer:
            break
        next_word.select(torch.tensor([begun.index(words[:-1]) for words in longer]))
        begun = longer
    return [words[1:] for words in written]


DRAWN_AT = (0.5, 1.0, 2.0)
N_DRAWN = 10
MOST_ROWS = 6


def table(inputs: Inputs) -> Table:
    """How many of each sentence were drawn at three temperatures."""
    greedy = reading_of(inputs.phrase, inputs.phrase_direction).text
    counts = _counts(inputs.phrase, inputs.phrase_direction, *cut(inputs), inputs.seed)
    order = sorted({s for c in counts for s in c}, key=lambda s: ([-c[s] for c in counts], s))
    rows = [(sentence, *(str(c[sentence] or "·") for c in counts)) for sentence in order[:MOST_ROWS]]
    if others := order[MOST_ROWS:]:
        rest = [sum(c[s] for s in others) for c in counts]
        rows.append((f"{len(others)} others", *(str(n or "·") for n in rest)))
    return Table(
        title=f"{N_DRAWN} sentences drawn at each of three temperatures (greedy: {greedy})",
        columns=("sentence", *(f"T = {t:g}" for t in DRAWN_AT)),
        rows=rows,
    )


def cut(inputs: Inputs) -> tuple[int | None, float | None]:
    """Top-k and top-p as the engine takes them."""
    return inputs.top_k or None, None if inputs.top_p == 1 else inputs.top_p


@cache.kept(cache.results, 100 * N_DRAWN * len(DRAWN_AT))
def _counts(
    phrase: str, direction: str, top_k: int | None, top_p: float | None, seed: int
) -> list[Counter[str]]:
    """How often each sentence was drawn, by temperature; remembered for a look at another word."""
    read = reading_of(phrase, direction)
    draws = sentences(
        read.model,
        read.source_ids,
        [t for t in DRAWN_AT for _ in range(N_DRAWN)],
        torch.Generator().manual_seed(seed),
        top_k=top_k,
        top_p=top_p,
        most=MOST_STEPS,
    )
    texts = [" ".join(read.vocabulary[id_] for id_ in ids) for ids in draws]
    return [Counter(texts[at : at + N_DRAWN]) for at in range(0, len(texts), N_DRAWN)]


TEMPERATURES = np.concatenate([np.arange(2, 20) / 20, np.arange(4, 17) / 4])  # 0.1, 0.15 ... 1, 1.25 ... 4
N_WORDS = 8


def lesson(inputs: Inputs) -> Lesson:
    read = reading_of(inputs.phrase, inputs.phrase_direction)
    step = min(inputs.word, len(read.written)) - 1
    spreads = spread(read.logits[step], TEMPERATURES.tolist(), *cut(inputs))
    before, after = entropy(spreads.whole), entropy(spreads.cut)
    likeliest = read.logits[step].topk(N_WORDS).indices  # the order is the same at every temperature
    bars: dict[str, Any] = {
        "labels": [read.vocabulary[id_] for id_ in likeliest.tolist()], "reach": 1.1, "axis": "word",
    }  # fmt: skip
    k, p = inputs.top_k or "all", inputs.top_p
    return Lesson(
        rows=[
            [
                Bars(
                    title=f"softmax(logits / T): the {N_WORDS} likeliest words", colour="muted",
                    values=spreads.whole[:, likeliest].numpy(), **bars,
                ),
                Bars(
                    title="what is drawn from, after the cut", values=spreads.cut[:, likeliest].numpy(),
                    **bars,
                ),
            ],
            [
                Facts.of(
                    Fact("words kept", spreads.n_kept.float().numpy(), 0),
                    Fact("probability kept", spreads.kept_mass.numpy(), 3),
                    Fact("entropy before the cut", before.numpy(), unit="nats"),
                    Fact("entropy after it", after.numpy(), unit="nats"),
                    Fact("perplexity after it, e^entropy", after.exp().numpy(), 1),
                )
            ],
            [table(inputs)],
        ],
        notice=_notices(read, step, spreads),
        scrub=Scrub("temperature", "temperature", TEMPERATURES, speed=6),
        sizes=rf"k=\text{{{k}}},\; p={p:g},\; |V|={len(read.vocabulary):,}",
        axes={
            "vocab": len(read.vocabulary), "temperature": len(TEMPERATURES), "one of three": len(DRAWN_AT),
            "sentence": N_DRAWN,
        },
        code=(distribution, spread, entropy, sentences),
    )  # fmt: skip


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


def _notices(read: Reading, step: int, spreads: Spread) -> list[str]:
    word, before = read.written[step], " ".join(read.written[:step][-3:]) or "<bos>"
    id_, n_words = read.vocabulary.index(word), len(read.vocabulary)
    numbers = (spreads.whole[:, id_], spreads.cut[:, id_], spreads.n_kept)
    notices = []
    for t, whole, cut, n in zip(TEMPERATURES, *numbers, strict=True):
        effect = "" if n == n_words else f", and among the {n:,} words kept **{cut:.2f}**"
        notices.append(f"After “… {before}”, at T = {t:g}, “{word}” has **{whole:.2f}**{effect}.")
    return notices


def questions() -> tuple[Answer, ...]:
    read = reading_of(INCOMPLETE, "fr-en")
    step = Inputs().word - 1
    logits, temperatures = read.logits[step], [0.1, 1.0, 3.0]
    cold, usual, hot = spread(logits, temperatures, None, None).whole.amax(dim=-1).tolist()
    three = spread(logits, [1.0, 3.0], 3, None)
    nucleus = spread(logits, [1.0, 3.0], None, 0.75).n_kept.tolist()
    order = bool((logits.topk(5).indices == (logits / 3).topk(5).indices).all())
    counts = ("more", "fewer", "as many")
    return (
        Answer.of(1 if order and hot < usual else 2, usual=usual, hot=hot, cold=cold),
        Answer.of(0 if nucleus[1] > nucleus[0] else 2, options=counts, nucleus=nucleus),
        Answer.of(2 if three.n_kept[0] == three.n_kept[1] else 0, options=counts, three=three),
    )


CONTROLS = (*PHRASE_CONTROLS, Own(_word, ("word",)), Columns((("top_k",), ("top_p",))), "seed")
PART = part(__name__, CONTROLS, lesson, questions, scrub="temperature")
