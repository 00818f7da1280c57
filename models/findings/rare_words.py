"""Rare-word heads: those that look at the least frequent word of a sentence (Voita et al. 2019)."""

from collections import Counter
from dataclasses import dataclass

from torch import Tensor

from ..data.tasks import Reading
from ..engine.address import Address
from ..fields import Field, number, whole
from ..percent import percent
from ..zoo.model import Model
from .finding import Chart, Finding, Number, Outcome, Tell, in_words, words_of
from .sources import is_word, keep_own_patterns, readings, reads_english, sentences


@dataclass
class Hits:
    """Of one head: words that asked, and those whose largest weight was on the rarest word they see."""

    asked: int = 0
    rarest: int = 0

    @property
    def share(self) -> float:
        return self.rarest / self.asked if self.asked else 0.0


def count_rarest(
    pattern: Tensor, words: list[int], counts: list[int], heads: list[Hits], *, causal: bool
) -> float:
    """Adds a pattern [head, query, key] to its heads' hits; the sum over queries of what chance would hit.

    counts: how frequent each of the words is. Of equally rare words, any is a hit; a query that sees words
    of one frequency alone has no rarest and is left out.
    """
    chance = 0.0
    for at, query in enumerate(words):
        visible = words[: at + 1] if causal else words
        least = min(counts[: len(visible)])
        rare = [key for key, count in zip(visible, counts, strict=False) if count == least]
        if len(rare) == len(visible):
            continue
        chance += len(rare) / len(visible)
        for head, hits in enumerate(heads):
            largest = visible[int(pattern[head, query, visible].argmax())]
            hits.asked, hits.rarest = hits.asked + 1, hits.rarest + (largest in rare)
    return chance


def measure(model: Model, tell: Tell, *, texts: int, share: float) -> Outcome:
    """Every head of the stack that reads the text, over held-out sentences; words are counted in these."""
    read = list(readings(model, sentences(), texts, lambda progress: tell(progress / 2)))
    side = next(iter(read[0].tokens))
    frequencies = Counter(word for reading in read for word in _words(reading, side)[1])
    hits_of: dict[str, list[Hits]] = {}
    chance, n_layers = 0.0, 0
    for at, reading in enumerate(read):
        places, words = _words(reading, side)
        counts = [frequencies[word] for word in words]
        trace = model.trace(reading, reduce=keep_own_patterns(side))
        n_layers = len(trace.keys())
        for address in trace:
            heads = hits_of.setdefault(str(Address.parse(address).layer), [Hits() for _ in trace[address]])
            chance += count_rarest(trace[address], places, counts, heads, causal=side == "decoder")
        tell(0.5 + (at + 1) / len(read) / 2)
    every = {f"L{layer} H{head}": hits for layer, heads in hits_of.items() for head, hits in enumerate(heads)}
    n_asked = next(iter(every.values())).asked
    if not n_asked:
        raise ValueError(f"{model.name!r} reads no sentence with a rarest word; choose more sentences")
    return _outcome(every, chance / n_layers / n_asked, share)


def _words(reading: Reading, side: str) -> tuple[list[int], list[str]]:
    """Where the words of a reading stand, and the words."""
    words = [(at, token) for at, token in enumerate(reading.tokens[side]) if is_word(token)]
    return [at for at, _ in words], [token for _, token in words]


def _outcome(every: dict[str, Hits], chance: float, share: float) -> Outcome:
    best = max(every, key=lambda name: every[name].share)
    top = every[best].share
    number = next(iter(every)).split()[0].removeprefix("L")
    layer = "the first layer" if number == "0" else f"layer {number}, the first that attends"
    first = max(hits.share for name, hits in every.items() if name.startswith(f"L{number} "))
    return Outcome(
        numbers=(
            Number("largest share on the rarest word", top),
            Number(f"the same, heads of {layer}", first, "0.66"),
            Number("by chance", chance),
        ),
        holds=first >= max(share, 2 * chance),
        said=(
            f"{in_words(best).capitalize()} looks most at the rarest word for {percent(top)} of "
            f"the words; chance would give {percent(chance)}. In {layer}, the most is {percent(first)}."
        ),
        charts=(
            Chart(
                title="largest weight on the rarest word, share of words", x_label="head",
                y_label="share", x=list(every), series={"share": [hits.share for hits in every.values()]},
                line=(chance, "by chance"),
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("rare-words"),
    model="translator",
    fits=reads_english,
    measure=measure,
    parameters={
        "texts": Field(60, whole(5, 200), "Sentences"),
        "share": Field(0.66, number(0.1, 1.0), "Looks at rare words from"),
    },
    code=(count_rarest, measure),
)
