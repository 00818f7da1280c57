"""The stream is the grammar's English, sentence after sentence, and the same for a seed."""

from itertools import islice

from models.data.grammar import is_held_out, sample_pairs
from models.data.grammar_text import SEPARATOR, english_text


def test_sentences_follow_each_other_with_a_separator_after_each():
    words = english_text(3, "training", 200)
    expected: list[str] = []
    for pair in islice(sample_pairs(3, "training"), 60):
        expected += [*pair.english, "<eos>"]
    assert SEPARATOR == "<eos>"
    assert words == expected[:200]


def test_held_out_text_has_held_out_sentences_only():
    """Its sentences, one by one, are those that the split keeps from training."""
    pairs = list(islice(sample_pairs(1, "held out"), 20))
    assert all(is_held_out(pair.key) for pair in pairs)
    words = " ".join(english_text(1, "held out", sum(len(pair.english) + 1 for pair in pairs)))
    assert words.split(" <eos>")[:-1] == [(" " * (i > 0)) + " ".join(p.english) for i, p in enumerate(pairs)]
