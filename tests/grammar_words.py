"""Counts again what the grammar's kept files hold: its words, and how often each occurs."""

from collections import Counter
from itertools import islice

from attention_lab.models.data.grammar.pairs import COUNTED_SENTENCES, Counts, Vocabulary, sample_pairs
from attention_lab.models.data.word_tokenizer import SPECIALS

VOCABULARY_SENTENCES = 100_000
VOCABULARY_SEED = 0


def build_vocabulary(sentences: int = VOCABULARY_SENTENCES) -> Vocabulary:
    """The words of the first training sentences, so that every known word is one that training shows."""
    english: set[str] = set()
    french: set[str] = set()
    for pair in islice(sample_pairs(VOCABULARY_SEED, "training"), sentences):
        english.update(pair.english)
        french.update(pair.french)
    return Vocabulary([*SPECIALS, *sorted(english | french)], sorted(english), sorted(french))


def count_words(sentences: int = COUNTED_SENTENCES) -> Counts:
    """Counts in the first training sentences, most frequent words first."""
    english: Counter[str] = Counter()
    french: Counter[str] = Counter()
    for pair in islice(sample_pairs(VOCABULARY_SEED, "training"), sentences):
        english.update(pair.english)
        french.update(pair.french)
    return Counts(dict(english.most_common()), dict(french.most_common()))
