"""Scores of translations: chrF beside its definition, BLEU beside sacrebleu's function, with signatures."""

from collections import Counter

import numpy as np
import pytest
import sacrebleu

from models.scores.texts import corpus_scores, sentence_chrf

WANTED = ["the cat sat on the mat .", "a dog ran home", "she reads a long book"] * 8
MADE = ["the cat sat on a mat .", "the dog ran", "he reads one book"] * 8


def chrf_by_hand(made: str, wanted: str) -> float:
    """Popović 2015: the mean over n = 1 to 6 of n-gram precision and recall, F with beta 2, no blanks."""
    made, wanted = made.replace(" ", ""), wanted.replace(" ", "")
    precisions, recalls = [], []
    for n in range(1, 7):
        grams = [Counter(text[at : at + n] for at in range(len(text) - n + 1)) for text in (made, wanted)]
        if not grams[0] or not grams[1]:
            continue
        shared = sum((grams[0] & grams[1]).values())
        precisions.append(shared / sum(grams[0].values()))
        recalls.append(shared / sum(grams[1].values()))
    precision, recall = (sum(each) / len(each) for each in (precisions, recalls))
    return 100 * 5 * precision * recall / (4 * precision + recall)


def test_chrf_of_a_sentence_is_its_definition() -> None:
    wanted = [chrf_by_hand(made, right) for made, right in zip(MADE[:3], WANTED[:3], strict=True)]
    assert sentence_chrf(MADE[:3], WANTED[:3]) == pytest.approx(wanted, rel=1e-6)
    assert sentence_chrf(["the same"], ["the same"]) == [pytest.approx(100)]


def test_scores_of_a_corpus_are_those_of_sacrebleu_with_its_signature_and_an_interval() -> None:
    chrf, bleu = corpus_scores(MADE, WANTED)
    assert (chrf.name, bleu.name) == ("chrF", "BLEU")
    assert chrf.value == pytest.approx(sacrebleu.corpus_chrf(MADE, [WANTED]).score)
    assert bleu.value == pytest.approx(sacrebleu.corpus_bleu(MADE, [WANTED]).score)
    for score in (chrf, bleu):
        low, high = score.interval
        assert low < score.value < high
        assert "version:" in score.signature and "nrefs:1" in score.signature


def test_the_interval_is_what_95_of_100_drawn_corpora_lie_between_though_it_is_lopsided() -> None:
    made = [*WANTED[:18], *MADE[18:20]]  # two of twenty sentences have faults
    (low, high), mean = corpus_scores(made, WANTED[:20])[0].interval, []
    for drawn in np.random.default_rng(3).integers(20, size=(500, 20)):
        pair = [made[at] for at in drawn], [[WANTED[at] for at in drawn]]
        mean.append(sacrebleu.corpus_chrf(*pair).score)
    wanted = np.quantile(mean, [0.025, 0.975])
    assert (low, high) == pytest.approx(tuple(wanted), abs=0.5) and high == pytest.approx(100)


def test_where_nothing_is_right_or_one_sentence_is_all_there_is_no_interval() -> None:
    assert [(each.value, each.interval) for each in corpus_scores(["x"] * 5, ["y"] * 5)] == [(0, None)] * 2
    assert all(each.interval is None for each in corpus_scores(["one two"], ["one two three"]))
