"""What a few seeds show, against SciPy, numbers worked out by hand, and simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from models.runs.significance import Difference, between, holm, of_examples, paired, summary, welch

A, B = [0.90, 0.93, 0.88, 0.95], [0.85, 0.90, 0.86, 0.89]


def test_a_summary_by_hand() -> None:
    found = summary([1.0, 2.0, 6.0])
    # deviations −2, −1, 3: variance 14 / 2; t(0.975, 2) = 4.302653
    assert (found.mean, found.n) == (3.0, 3)
    assert found.spread == pytest.approx(math.sqrt(7))
    half = 4.302653 * math.sqrt(7 / 3)
    assert found.interval == pytest.approx((3 - half, 3 + half), rel=1e-6)


def test_few_numbers_have_no_spread_or_interval() -> None:
    assert (summary([0.5]).spread, summary([0.5]).interval) == (None, None)
    assert summary([1.0, 3.0]).spread == pytest.approx(math.sqrt(2))
    assert summary([1.0, 3.0]).interval is None
    with pytest.raises(ValueError, match="give at least one"):
        summary([])


def test_the_paired_t_test_is_scipy_s_and_the_formula_s() -> None:
    found = paired(A, B)
    differences = [0.05, 0.03, 0.02, 0.06]
    mean = sum(differences) / 4
    deviation = math.sqrt(sum((d - mean) ** 2 for d in differences) / 3)
    t = mean / (deviation / 2)
    assert found.difference == pytest.approx(mean)
    assert found.p == pytest.approx(2 * stats.t.sf(t, 3))
    theirs = stats.ttest_rel(A, B)
    assert found.p == pytest.approx(theirs.pvalue)
    assert found.interval == pytest.approx(tuple(theirs.confidence_interval(0.95)))
    assert (found.test, found.n, found.signed_rank) == ("paired t test", (4,), None)
    assert found.shown


def test_signed_ranks_are_tested_where_n_allows() -> None:
    first, second = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.9, 1.8, 2.7, 3.6, 4.5, 5.4]
    # all six differences are positive: p = 2 / 2^6
    assert paired(first, second).signed_rank == pytest.approx(2 / 64)
    assert paired(first[:5], second[:5]).signed_rank is None


def test_differences_without_a_spread_take_the_sign_test() -> None:
    found = paired([1.0, 1.0, 1.0], [0.5, 0.5, 0.5])
    assert (found.test, found.p) == ("sign test", 0.25)
    assert not found.shown
    same = paired([1.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    assert (same.difference, same.p, same.shown) == (0.0, 1.0, False)


def test_welch_where_seeds_differ() -> None:
    found = between(dict(enumerate(A)), {seed + 10: value for seed, value in enumerate(B)})
    theirs = stats.ttest_ind(A, B, equal_var=False)
    assert (found.test, found.n) == ("Welch's t test", (4, 4))
    assert found.p == pytest.approx(theirs.pvalue)
    assert found.interval == pytest.approx(tuple(theirs.confidence_interval(0.95)))
    degenerate = welch([1.0] * 3, [0.5] * 3)
    assert not degenerate.test and not degenerate.shown and degenerate.why.startswith("neither has a spread")


def test_pairs_are_of_the_same_seeds_whatever_their_order() -> None:
    first, second = {0: 0.90, 1: 0.93, 2: 0.88}, {2: 0.86, 0: 0.85, 1: 0.90, 7: 0.1}
    assert between(first, second).p == pytest.approx(stats.ttest_rel(A[:3], B[:3]).pvalue)


def test_too_few_seeds_are_said_and_show_nothing() -> None:
    found = between({0: 1.0}, {0: 0.0})
    assert (found.difference, found.test, found.shown) == (1.0, "", False)
    assert found.why == "one seed of a configuration cannot show a difference; train at least 3 of each"
    assert "no score" in between({}, {0: 1.0}).why


def test_holm_by_hand() -> None:
    # 0.01 × 3, 0.02 × 2, max(0.04, 0.03 × 1); what was not tested stays
    found = [Difference(difference=0.0, p=p) for p in (0.03, 0.01, None, 0.02)]
    assert [each.holm for each in holm(found)] == pytest.approx([0.04, 0.03, None, 0.04])
    assert holm([Difference(difference=0.0, p=0.9)] * 2)[0].holm == 1.0


def test_a_corrected_p_decides_whether_a_difference_is_shown() -> None:
    near = Difference(difference=1.0, interval=(0.1, 1.9), p=0.03)
    assert near.shown
    assert not holm([near, near])[0].shown


def test_mcnemar_of_right_and_wrong_examples() -> None:
    first, second = [1.0] * 12 + [0.0] * 2 + [1.0] * 20, [0.0] * 12 + [1.0] * 2 + [1.0] * 20
    found = of_examples(first, second)
    # 12 against 2 discordant examples: 2 · P(X <= 2), X binomial of 14
    assert found.p == pytest.approx(2 * sum(math.comb(14, k) for k in range(3)) / 2**14)
    assert found.difference == pytest.approx(10 / 34)
    assert found.n == (34,) and found.shown
    assert of_examples([1.0, 0.0], [1.0, 0.0]).p == 1.0
    with pytest.raises(ValueError, match="same examples"):
        of_examples([1.0, 1.0], [1.0])


def test_the_bootstrap_is_scipy_s() -> None:
    noise = np.random.default_rng(3)
    first = noise.normal(size=200)
    second = first - 0.05 + noise.normal(scale=0.3, size=200)
    found = of_examples(list(first), list(second))
    theirs = stats.bootstrap((first - second,), np.mean, method="percentile", rng=1).confidence_interval
    assert found.interval == pytest.approx(tuple(theirs), abs=0.004)
    assert found.test == "paired bootstrap" and found.p is not None and 0 < found.p <= 1
    assert of_examples(list(first), list(second)) == found  # its seed is fixed


def test_the_bootstrap_of_quotients_resamples_both_sums():
    noise = np.random.default_rng(5)
    below = noise.integers(1, 30, size=300).astype(float)
    first, second = below * noise.uniform(1, 2, size=300), below * noise.uniform(1, 2, size=300)
    found = of_examples(list(first), list(second), list(below))
    assert found.difference == pytest.approx(first.sum() / below.sum() - second.sum() / below.sum())

    def quotient(differences, weights, axis=-1):
        return differences.sum(axis=axis) / weights.sum(axis=axis)

    data = (first - second, below)
    theirs = stats.bootstrap(data, quotient, paired=True, method="percentile", rng=2).confidence_interval
    assert found.interval == pytest.approx(tuple(theirs), abs=0.006)
    assert found.test == "paired bootstrap"


def test_nothing_is_shown_where_there_is_nothing() -> None:
    """Of 400 comparisons of the same thing, about one in twenty shows a difference."""
    noise = np.random.default_rng(0)
    shown = [paired(*noise.normal(size=(2, 5)).tolist()).shown for _ in range(400)]
    assert 0.02 <= np.mean(shown) <= 0.08
