"""The grammar's English sentences as one endless text, word by word, for language models."""

from collections.abc import Iterator
from itertools import islice

from models.data.grammar import sample_pairs
from models.data.grammar.pairs import Split
from models.data.tokenizers import EOS, SPECIALS

SEPARATOR = SPECIALS[EOS]


def english_words(seed: int, split: Split) -> Iterator[str]:
    """Endless words, each sentence closed by <eos>; the same for a seed. `split` as in `sample_pairs`."""
    for pair in sample_pairs(seed, split):
        yield from pair.english
        yield SEPARATOR


def english_text(seed: int, split: Split, n_words: int) -> list[str]:
    """The first `n_words` of `english_words`."""
    return list(islice(english_words(seed, split), n_words))
