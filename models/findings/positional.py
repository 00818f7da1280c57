"""Positional and confident heads (Voita et al. 2019)."""

from collections import Counter
from dataclasses import dataclass, field

from torch import Tensor

from ..engine.address import Address
from ..fields import Field, number, whole
from ..percent import percent
from ..zoo.model import Model
from .finding import Chart, Finding, Number, Outcome, Tell, in_words, words_of
from .sources import is_word, readings, reads_english, sentences


@dataclass
class HeadCounts:
    """Of one head: how often its maximum stood at each offset from the query, and the maxima themselves."""

    offsets: Counter[int] = field(default_factory=Counter)
    maxima: list[float] = field(default_factory=list)

    @property
    def usual(self) -> tuple[int, float]:
        """The offset where its maximum stands most often, and in which share of all queries."""
        offset, count = self.offsets.most_common(1)[0]
        return offset, count / len(self.maxima)

    @property
    def confidence(self) -> float:
        return sum(self.maxima) / len(self.maxima)


def count_positions(pattern: Tensor, words: list[int], heads: list[HeadCounts], *, causal: bool) -> None:
    """Adds a pattern [head, query, key] to what was seen of its heads; only words ask and are looked at.

    In a causal stack, the first word is left out: it has no choice.
    """
    if len(words) < 2:
        return
    asking = words[1:] if causal else words
    maxima, places = pattern[:, asking][:, :, words].max(dim=-1)  # [head, query]
    for head, counts in enumerate(heads):
        keys = [words[at] for at in places[head].tolist()]
        counts.offsets.update(key - query for query, key in zip(asking, keys, strict=True))
        counts.maxima += maxima[head].tolist()


def measure(model: Model, tell: Tell, *, texts: int, at_one_offset: float, confident: float) -> Outcome:
    """Every head of self-attention, by layer, over held-out sentences."""
    counts: dict[str, list[HeadCounts]] = {}
    for reading in readings(model, sentences(), texts, tell):
        trace = model.trace(reading, reduce=lambda at, x: x if at.endswith(".self.pattern") else None)
        for address in trace:
            side, layer, _ = Address.parse(address)
            heads = counts.setdefault(f"{side} {layer}", [HeadCounts() for _ in trace[address]])
            words = [at for at, token in enumerate(reading.tokens[side]) if is_word(token)]
            count_positions(trace[address], words, heads, causal=side == "decoder")
    stacks = {where.split()[0] for where in counts}
    every = {  # the heads that saw anything, as L1 H3, after the stack's name where there are two
        f"{side} L{layer} H{head}" if len(stacks) > 1 else f"L{layer} H{head}": each
        for where, heads in counts.items()
        for side, layer in [where.split()]
        for head, each in enumerate(heads)
        if each.maxima
    }
    if not every:
        raise ValueError(f"{model.name!r} shows no self-attention of two words or more; choose another model")
    return _outcome(every, at_one_offset, confident)


def _outcome(every: dict[str, HeadCounts], at_one_offset: float, confident: float) -> Outcome:
    positional = {name: counts.usual for name, counts in every.items() if counts.usual[1] >= at_one_offset}
    sure = [name for name, counts in every.items() if counts.confidence > confident]
    both = [name for name in sure if name in positional]
    adjacent = [name for name, (offset, _) in positional.items() if abs(offset) == 1]
    best = max(every, key=lambda name: every[name].usual[1])
    offset, share = every[best].usual
    return Outcome(
        numbers=(
            Number("largest share of queries at one offset", share, "≥ 0.90 makes it positional"),
            Number("positional heads", len(positional), "some, in each model", digits=0),
            Number("confident heads", len(sure), digits=0),
            Number("positional heads that are confident", len(both), "“to a large extent”", digits=0),
            Number("positional heads beside the word", len(adjacent), "most of them", digits=0),
            Number("all heads", len(every), digits=0),
        ),
        holds=bool(positional) and 2 * min(len(adjacent), len(both)) >= len(positional),
        said=(
            f"{in_words(best).capitalize()} has its maximum at offset {_signed(offset)} for {percent(share)} "
            f"of the words; {len(positional)} of {len(every)} heads reach {at_one_offset:.0%}, "
            f"and {len(sure)} put more than {confident:g} on one word on average."
        ),
        charts=(
            Chart(
                title="maximum at one offset, share of words",
                x_label="head (offset)",
                y_label="share",
                x=[f"{name} ({_signed(counts.usual[0])})" for name, counts in every.items()],
                series={"share": [counts.usual[1] for counts in every.values()]},
                line=(at_one_offset, "a positional head"),
            ),
            Chart(
                title="confidence: mean of the maximum",
                x_label="head",
                y_label="weight",
                x=list(every),
                series={"confidence": [counts.confidence for counts in every.values()]},
                line=(confident, "a confident head"),
            ),
        ),
    )


def _signed(offset: int) -> str:
    return f"{offset:+d}".replace("-", "−")


FINDING = Finding(
    **words_of("positional"),
    model="shakespeare",
    fits=reads_english,
    measure=measure,
    parameters={
        "texts": Field(60, whole(5, 300), "Sentences"),
        "at_one_offset": Field(0.9, number(0.5, 1.0), "Positional from"),
        "confident": Field(0.8, number(0.1, 1.0), "Confident above"),
    },
    code=(count_positions, measure),
)
