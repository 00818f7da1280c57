"""How rare a token is: by what each task trains on, counted in another way."""

import math
import random
from itertools import islice

import pytest

from models import load_model
from models.data.grammar import sample_pairs
from models.data.grammar_text import Counts, count_words, kept_counts
from models.data.sentiment import sample_review
from models.data.tasks import make_task, masked


def test_the_kept_counts_are_those_of_the_first_training_sentences() -> None:
    pairs = list(islice(sample_pairs(0, "training"), 300))
    few = count_words(300)
    for counts, sentences in (
        (few.english, [pair.english for pair in pairs]),
        (few.french, [pair.french for pair in pairs]),
    ):
        words = [word for sentence in sentences for word in sentence]
        assert counts == {word: words.count(word) for word in set(words)}
        assert list(counts.values()) == sorted(counts.values(), reverse=True)
    for kept, drawn in zip(kept_counts(), few, strict=True):
        assert all(kept[word] >= count for word, count in drawn.items())
        assert list(kept.values()) == sorted(kept.values(), reverse=True)
        assert sum(kept.values()) / 10_000 == pytest.approx(sum(drawn.values()) / 300, rel=0.05)


def test_a_translator_counts_words_of_both_languages() -> None:
    rarity, counts = make_task("translation").rarity(), kept_counts()
    assert rarity.said == (
        "Here, rarity is by counts in 10,000 pairs of its training sentences; special tokens do not count."
    )
    assert rarity.counts["street"] == counts.english["street"] > 0
    assert rarity.counts["rue"] == counts.french["rue"] > 0
    shared = next(word for word in counts.english if word in counts.french and word.isalpha())
    assert rarity.counts[shared] == counts.english[shared] + counts.french[shared]
    assert rarity.counts["<eos>"] == rarity.counts["<2fr>"] == math.inf


def test_language_models_of_the_grammar_count_its_english() -> None:
    rarity = make_task("next-word").rarity()
    assert rarity.counts["the"] == max(kept_counts().english.values())
    assert rarity.counts["<eos>"] == math.inf and "rue" not in rarity.counts


def test_word_pieces_count_as_often_as_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"the": 7, "street": 3, "thestreet": 2, "xthe": 5}
    monkeypatch.setattr(masked, "kept_counts", lambda: Counts(counts, {}))
    task = load_model("masked").task
    pieces = {word: [task.tokenizer.labels[id_] for id_ in task.tokenizer.encode(word)] for word in counts}
    assert len(pieces["thestreet"]) > 1 == len(pieces["street"])
    every = {piece for found in pieces.values() for piece in found}
    expected = {piece: sum(n * pieces[word].count(piece) for word, n in counts.items()) for piece in every}
    assert {**task.rarity().counts, **expected} == task.rarity().counts
    assert task.rarity().counts["[MASK]"] == math.inf
    assert make_task("masked", {"source": "tiny-shakespeare"}).rarity() is None


def test_reviews_are_counted_as_training_writes_them() -> None:
    rarity = load_model("sentiment").task.rarity()
    rng = random.Random(0)
    words = [word for _ in range(2_000) for word in sample_review(rng, held_out=False).text.split()]
    for word in ("the", "boring", "acting"):
        assert rarity.counts[word] == words.count(word) > 0
    assert "2,000 reviews like those of its training" in rarity.said


@pytest.mark.parametrize("name", ["induction", "shakespeare", "digits-classifier"])
def test_where_nobody_counted_nothing_is_claimed(name: str) -> None:
    assert load_model(name).task.rarity() is None
