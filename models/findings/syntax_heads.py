"""Heads that look along one syntactic relation (Clark et al. 2019)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..data.grammar import Pair, sample_pairs
from ..data.grammar.annotations import RELATIONS, Dependency, dependencies
from ..fields import Field, whole
from ..zoo.model import Attention, Model
from .finding import Chart, Finding, Number, Outcome, Tell, words_of
from .sources import is_word, keep_own_patterns, known_readings, reads_english

PUBLISHED = {
    "det": "0.943, L7 H10; offset +1: 0.517",
    "poss": "0.805, L6 H5; offset +1: 0.477",
    "dobj": "0.868, L7 H9; offset −2: 0.400",
    "pobj": "0.763, L8 H5; offset −2: 0.346",
    "coref": "0.651, L4 H3",
}
_FAR = 0.3
"""What a head is better by, of the paper's relations at which both are known: by 0.33 to 0.47."""
OFFSETS = range(-3, 3)
"""The baselines of the paper's code: the word so many places further on."""
_SEED = 1  # the training of shipped models drew other sentences


@dataclass
class Hits:
    """Of one relation: how many words were asked, and how often each head and each offset was right.

    heads: by direction [way, head], way 0 for where the word looks, way 1 for who looks at it.
    """

    heads: Int[Tensor, "way head"]
    offsets: Counter[int]
    asked: int = 0

    @property
    def best_head(self) -> tuple[int, int, float]:
        """Way, head (all layers counted through) and share of the words."""
        way, head = divmod(int(self.heads.argmax()), self.heads.shape[1])
        return way, head, float(self.heads.max()) / self.asked

    @property
    def best_offset(self) -> tuple[int, float]:
        offset = max(OFFSETS, key=lambda each: self.offsets[each])
        return offset, self.offsets[offset] / self.asked


def places_of(tokens: Sequence[str], words: Sequence[str]) -> list[list[int]] | None:
    """The places of each word's pieces among the tokens; None where the tokens spell other words."""
    places: list[list[int]] = [[]]
    spelt = ""
    for at, token in enumerate(tokens):
        if not is_word(token):
            continue
        if len(places) > len(words):
            return None
        spelt += token.strip().removeprefix("##").lower()
        places[-1].append(at)
        if spelt == words[len(places) - 1]:
            places.append([])
            spelt = ""
    return places[:-1] if len(places) == len(words) + 1 and not spelt else None


def by_word(
    pattern: Float[Tensor, "head query key"], places: Sequence[Sequence[int]]
) -> Float[Tensor, "head word word"]:
    """Weights between words: to a word that is split, the sum over its pieces; from it, their mean.

    A word's weight on itself is left out, as everything special is: -1, below any other.
    """
    to = torch.stack([pattern[:, :, list(at)].sum(dim=-1) for at in places], dim=-1)
    columns = torch.stack([to[:, list(at)].mean(dim=1) for at in places], dim=1)
    diagonal = torch.eye(len(places), dtype=torch.bool, device=columns.device)
    return columns.masked_fill(diagonal, -1.0)


def count(
    weights: Float[Tensor, "head word word"], dependencies: Sequence[Dependency], hits: dict[str, Hits]
) -> None:
    """Adds a sentence: whether each head's most attended other word is the right one, in both directions."""
    n = weights.shape[-1]
    answers = torch.stack([weights.argmax(dim=-1), weights.argmax(dim=-2)])  # [way, head, word]
    for relation, dependent, head in dependencies:
        of = hits[relation]
        of.asked += 1
        of.heads += answers[:, :, dependent] == head
        for offset in OFFSETS:
            of.offsets[offset] += max(0, min(dependent + offset, n - 1)) == head


def parsed() -> Iterator[tuple[str, Pair]]:
    """Endless held-out English sentences with a pronoun, each with what is known of it."""
    for pair in sample_pairs(_SEED, "held out", pronouns=1.0):
        if not pair.casual:
            yield " ".join(pair.english), pair


def measure(model: Model, tell: Tell, *, texts: int) -> Outcome:
    """Every head of the stack that reads the text, at every relation of the grammar."""
    hits: dict[str, Hits] = {}
    stack, read = "", 0
    for reading, pair in known_readings(model, parsed(), texts, tell):
        side = next(iter(reading.tokens))
        places = places_of(reading.tokens[side], pair.english)
        if places is None:
            continue
        trace = model.trace(reading, reduce=keep_own_patterns(side))
        weights = torch.cat([by_word(trace[address].float(), places) for address in trace])
        stack, read = f"{side}.self", read + 1
        if not hits:
            hits = {
                name: Hits(torch.zeros(2, len(weights), dtype=torch.long), Counter()) for name in RELATIONS
            }
        count(weights.cpu(), dependencies(pair), hits)
    if not read:
        raise ValueError(
            f"{model.name!r} splits words into pieces; choose BERT or one of our models of sentences"
        )
    return _outcome({name: of for name, of in hits.items() if of.asked}, model.attention(stack), read)


def _outcome(hits: dict[str, Hits], attention: Attention, texts: int) -> Outcome:
    numbers, names, shares = [], [], []
    for relation, of in hits.items():
        way, at, share = of.best_head
        offset, baseline = of.best_offset
        head, relation_name = "L{} H{}".format(*attention.head_at(at)), RELATIONS[relation]
        label = f"{relation}, {relation_name.replace('→', '←') if way else relation_name}: {head}"
        numbers.append(Number(label, share, PUBLISHED[relation]))
        names += [f"{relation} {head}", f"{relation} {offset:+d}".replace("-", "−")]
        shares += [share, baseline]
    better = [name for name, of in hits.items() if of.best_head[2] >= of.best_offset[1] + _FAR]
    n_asked = sum(of.asked for of in hits.values())
    return Outcome(
        numbers=tuple(numbers),
        holds=len(better) == len(hits),
        said=(
            f"In {texts} sentences with {n_asked} dependencies, a head far beats every fixed offset at "
            f"{len(better)} of {len(hits)} relations{': ' if better else ''}{', '.join(better)}."
        ),
        charts=(
            Chart(
                title="best head beside best fixed offset", x_label="relation: head or offset",
                y_label="share right", x=names, series={"right": shares},
            ),
        ),
    )  # fmt: skip


FINDING = Finding(
    **words_of("syntax-heads"),
    model="masked",
    fits=reads_english,
    measure=measure,
    parameters={"texts": Field(100, whole(10, 400), "Sentences")},
    code=(dependencies, places_of, by_word, count, measure),
)
