"""The grammar's sentences as a vocabulary, as held-out tests, and as one endless text for language models."""

import json
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from models.data.grammar import Pair, sample_pairs
from models.data.grammar.pairs import Split
from models.data.grammar.sentences import Direction
from models.data.word_tokenizer import EOS, SPECIALS

SEPARATOR = SPECIALS[EOS]
_VOCABULARY_SEED = 0
_VOCABULARY_SENTENCES = 100_000
_KEPT = Path(__file__).parent / "grammar" / "words.json"
_COUNTED = _KEPT.with_name("counts.json")
COUNTED_SENTENCES = 10_000


class Counts(NamedTuple):
    """How often each word occurs."""

    english: dict[str, int]
    french: dict[str, int]


class Vocabulary(NamedTuple):
    """`words` are all of them, by id, special words first; the other two say which language has which."""

    words: list[str]
    english: list[str]
    french: list[str]


def build_vocabulary(sentences: int = _VOCABULARY_SENTENCES) -> Vocabulary:
    """The words of the first training sentences, so that every known word is one that training shows."""
    english: set[str] = set()
    french: set[str] = set()
    for pair in islice(sample_pairs(_VOCABULARY_SEED, "training"), sentences):
        english.update(pair.english)
        french.update(pair.french)
    return Vocabulary([*SPECIALS, *sorted(english | french)], sorted(english), sorted(french))


@lru_cache(maxsize=1)
def kept_vocabulary() -> Vocabulary:
    """What `build_vocabulary` finds, kept in a file, because finding it takes many seconds."""
    words = json.loads(_KEPT.read_text(encoding="utf-8"))
    return Vocabulary([*SPECIALS, *sorted({*words["en"], *words["fr"]})], words["en"], words["fr"])


def count_words(sentences: int = COUNTED_SENTENCES) -> Counts:
    """Counts in the first training sentences, most frequent words first."""
    english: Counter[str] = Counter()
    french: Counter[str] = Counter()
    for pair in islice(sample_pairs(_VOCABULARY_SEED, "training"), sentences):
        english.update(pair.english)
        french.update(pair.french)
    return Counts(dict(english.most_common()), dict(french.most_common()))


@lru_cache(maxsize=1)
def kept_counts() -> Counts:
    """What `count_words` finds, kept in a file, because a page must not wait for it."""
    counts = json.loads(_COUNTED.read_text(encoding="utf-8"))
    return Counts(counts["en"], counts["fr"])


def held_out(count: int, seed: int = 1) -> list[tuple[Pair, Direction]]:
    """`count` different held-out sentences to translate, directions alternating where a pair has both."""
    chosen: dict[tuple[Direction, tuple[str, ...]], tuple[Pair, Direction]] = {}
    for pair in sample_pairs(seed, "held out"):
        direction = pair.directions[len(chosen) % len(pair.directions)]
        chosen.setdefault((direction, pair.source(direction)), (pair, direction))
        if len(chosen) == count:
            break
    return list(chosen.values())


def english_words(seed: int, split: Split) -> Iterator[str]:
    """Endless words, each sentence closed by <eos>; the same for a seed. `split` as in `sample_pairs`."""
    for pair in sample_pairs(seed, split):
        yield from pair.english
        yield SEPARATOR


def english_text(seed: int, split: Split, n_words: int) -> list[str]:
    """The first `n_words` of `english_words`."""
    return list(islice(english_words(seed, split), n_words))
