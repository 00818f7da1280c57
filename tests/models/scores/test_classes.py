"""Scores of classes beside scikit-learn's."""

import numpy as np
import pytest
from scipy.stats import bootstrap
from sklearn.metrics import confusion_matrix, f1_score, precision_recall_fscore_support

from models.scores.classes import class_scores, confusion, macro_f1, macro_f1_interval

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(4, size=300)
ANSWERS = np.where(RNG.random(300) < 0.6, TRUTH, RNG.integers(4, size=300))


def test_precision_recall_and_f1_are_those_of_scikit_learn() -> None:
    matrix = confusion(TRUTH.tolist(), ANSWERS.tolist(), 4)
    assert matrix.tolist() == confusion_matrix(TRUTH, ANSWERS).tolist()
    precision, recall, f1, support = precision_recall_fscore_support(TRUTH, ANSWERS)
    found = class_scores(matrix)
    assert [each.precision for each in found] == pytest.approx(precision.tolist())
    assert [each.recall for each in found] == pytest.approx(recall.tolist())
    assert [each.f1 for each in found] == pytest.approx(f1.tolist())
    assert [each.n for each in found] == support.tolist()
    assert float(macro_f1(matrix)) == pytest.approx(f1_score(TRUTH, ANSWERS, average="macro"))


def test_a_class_that_nobody_names_has_no_precision_and_one_that_is_not_there_does_not_count() -> None:
    truth, answers = [0, 0, 1, 1], [0, 0, 0, 0]
    matrix = confusion(truth, answers, 3)
    zero, one, two = class_scores(matrix)
    assert (one.precision, one.recall, one.f1, one.n) == (None, 0.0, 0.0, 2)
    assert (two.precision, two.recall, two.f1, two.n) == (None, None, 0.0, 0)
    assert zero.precision == 0.5
    assert float(macro_f1(matrix)) == pytest.approx(
        f1_score(truth, answers, average="macro", zero_division=0)
    )


def test_the_interval_of_the_mean_f1_is_that_of_scipy() -> None:
    wanted = bootstrap(
        (TRUTH, ANSWERS), lambda truth, answers: f1_score(truth, answers, average="macro"), paired=True,
        vectorized=False, method="percentile", n_resamples=300, rng=1,
    ).confidence_interval  # fmt: skip
    low, high = macro_f1_interval(TRUTH.tolist(), ANSWERS.tolist(), 4)
    assert (low, high) == pytest.approx((wanted.low, wanted.high), abs=0.2 * (wanted.high - wanted.low))
    assert macro_f1_interval([0, 1], [0, 1], 2) is None, "all alike"
