"""The corpus' labels against a rule of its own that reads nothing but the text; its splits share nothing."""

import random
from functools import cache

from tokenizers.pre_tokenizers import BertPreTokenizer

from attention_lab.models.data.reviews import (
    ADJECTIVES,
    VERBS,
    Review,
    is_held_out,
    sample_review,
    vocabulary,
)

GOOD = {form for o in (*ADJECTIVES, *VERBS) for form in (o.text, o.base) if form and o.positive}
BAD = {form for o in (*ADJECTIVES, *VERBS) for form in (o.text, o.base) if form and not o.positive}
NEGATIONS = ("not at all", "not", "n't", "never", "hardly", "far from", "anything but", "nobody")
CONCESSIONS = ("even though", "although")


def verdict(clause: str) -> bool:
    """The word that judges, turned round by a negation."""
    [word] = [word for word in clause.split() if word in GOOD | BAD]
    return (word in GOOD) != any(negation in f" {clause} " for negation in NEGATIONS)


def decides(text: str) -> list[str]:
    """The clauses that have the last word, found in the text."""
    text = text.replace("anything but", "anything-but")
    judging = [part for part in text.split(" .") if (GOOD | BAD) & set(part.split())]
    text = judging[-1]  # "however" or a sentence that judges nothing is what a full stop divides
    text = text.replace(" however ,", "")
    for concession in CONCESSIONS:
        if concession in text:
            before, after = text.split(concession)
            text = before if (GOOD | BAD) & set(before.split()) else after.split(" , ")[1]
    clauses = text.split(" but ")[-1].split(" and ")
    return [clause.replace("anything-but", "anything but") for clause in clauses]


@cache
def sampled(*, held_out: bool) -> list[Review]:
    """6,000 to train on, or 1,500 held out."""
    rng = random.Random(3)
    return [sample_review(rng, held_out=held_out) for _ in range(1500 if held_out else 6000)]


def test_labels_are_what_the_text_says():
    for review in sampled(held_out=False) + sampled(held_out=True):
        clauses = decides(review.text)
        assert {verdict(clause) for clause in clauses} == {review.positive}, review.text
        negated = all(any(negation in clause for negation in NEGATIONS) for clause in clauses)
        assert review.negated == negated, review.text


def test_contrast_says_both():
    for review in sampled(held_out=False):
        text = review.text.replace("anything but", "")
        marked = any(word in text for word in ("although", "even though", " but ", "however"))
        assert review.contrast == marked, review.text


def test_held_out_pairs_never_meet_in_training():
    for review in sampled(held_out=False):
        assert not is_held_out(review.chief.key)
        assert review.rival is None or not is_held_out(review.rival.key)
    for review in sampled(held_out=True):
        assert is_held_out(review.chief.key)
    texts = [{review.text for review in sampled(held_out=held_out)} for held_out in (False, True)]
    assert not texts[0] & texts[1]


def test_neither_a_word_nor_a_negation_tells_the_verdict():
    """Guessing by the words that judge, by negations, or always the same is right about half of the time."""
    reviews = sampled(held_out=False)
    positive = [review.positive for review in reviews]
    words = [sum(w in GOOD for w in r.text.split()) > sum(w in BAD for w in r.text.split()) for r in reviews]
    negations = [not any(negation in review.text for negation in NEGATIONS) for review in reviews]
    for guess in (words, negations, [True] * len(reviews)):
        right = sum(a == b for a, b in zip(guess, positive, strict=True)) / len(reviews)
        assert 0.4 < right < 0.6


def test_there_are_several_hundred_thousand_reviews():
    """Few are drawn twice: of N equally frequent ones, n (n - 1) / 2N pairs would be equal."""
    texts = [review.text for review in sampled(held_out=False)]
    n = len(texts)
    assert n * (n - 1) / 2 / (n - len(set(texts))) > 200_000


def test_every_word_is_in_the_vocabulary():
    texts = " ".join(review.text for review in sampled(held_out=False))
    words = {word for word, _ in BertPreTokenizer().pre_tokenize_str(texts)}
    assert words == set(vocabulary())
