"""What a few seeds show, against SciPy, numbers worked out by hand, and simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from attention_lab.models.runs.results import bounds_of
from attention_lab.models.runs.significance import (
    Difference,
    between,
    holm,
    mean_interval,
    of_examples,
    paired_test,
    summary,
    welch,
)

SHARE = (0.0, 1.0)

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


def test_a_share_has_wilsons_interval_with_the_spread_of_its_seeds() -> None:
    low, high = mean_interval([0.98, 1.0, 0.997], SHARE) or (0, 0)
    assert mean_interval([0.98, 1.0, 0.997])[1] > 1.01  # Student's
    assert 0.8 < low < 0.98 and 0.997 < high < 1
    # Seeds that vary as 200 right or wrong answers do: scipy's Wilson interval, at the level whose normal
    # quantile is that of t with 3 degrees.
    m, n = 0.95, 200
    apart = math.sqrt(4 * m * (1 - m) / n * 3 / 4)  # so that four seeds' standard error is that of n answers
    values = [m - apart, m - apart, m + apart, m + apart]
    level = 2 * stats.norm.cdf(stats.t.ppf(0.975, 3)) - 1
    theirs = stats.binomtest(190, n).proportion_ci(level, method="wilson")
    assert mean_interval(values, SHARE) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@pytest.mark.parametrize("values", [[0.01, 0.3, 0.02], [1e-9, 3e-9, 1e-9, 2e-9], [0.999, 1.0, 0.9999]])
@pytest.mark.parametrize("bounds", [SHARE, (0.0, math.inf), (-1.0, 2.0)])
def test_the_ends_are_t_of_their_own_standard_errors_away(values: list[float], bounds: tuple) -> None:
    low, high = bounds

    def size(p: float) -> float:
        return (p - low) * (high - p) if math.isfinite(high) else p - low

    mean, t = float(np.mean(values)), stats.t.ppf(0.975, len(values) - 1)
    for end in mean_interval(values, bounds) or ():
        assert low < end < high
        error = stats.sem(values) * math.sqrt(size(end) / size(mean))
        assert abs(mean - end) / error == pytest.approx(t, rel=1e-6)


def test_it_holds_the_true_share_more_often_than_students() -> None:
    drawn, true = np.random.default_rng(0).beta(198, 2, size=(2_000, 3)), 0.99
    rows = drawn.tolist()
    ours, students = (
        np.mean([low <= true <= high for low, high in (mean_interval(row, bounds) for row in rows)])
        for bounds in (SHARE, (-math.inf, math.inf))
    )
    assert 0.935 < ours < 0.96 and students < ours - 0.01


def test_seeds_that_are_all_alike_tell_nothing_of_others() -> None:
    assert summary([1.0, 1.0, 1.0], SHARE).interval is None
    assert paired_test([0.9] * 6, [0.8] * 6).interval is None and paired_test([0.9] * 6, [0.8] * 6).is_shown
    assert of_examples([1.0, 0.0, 1.0], [1.0, 0.0, 1.0]).interval is None


def test_a_difference_of_shares_is_none_that_shares_cannot_have() -> None:
    first, second = dict(enumerate([1.0, 1.0, 0.1])), dict(enumerate([0.0, 0.1, 0.0]))
    assert between(first, second).interval[1] > 1 == between(first, second, SHARE).interval[1]
    apart = {seed + 9: value for seed, value in second.items()}
    assert between(first, apart).interval[1] > 1 == between(first, apart, SHARE).interval[1]
    assert between(first, second).interval[0] == between(first, second, SHARE).interval[0]


def test_scores_say_by_their_names_what_they_lie_between() -> None:
    assert bounds_of("exact match") == bounds_of("accuracy, negated") == SHARE
    assert bounds_of("bits per character") == bounds_of("error (share of variance)") == (0, math.inf)
    assert bounds_of("chrF") == (-math.inf, math.inf)
    assert mean_interval([1.5, 2.0, 4.0], SHARE) == mean_interval([1.5, 2.0, 4.0])  # a name misleads


def test_the_paired_t_test_is_scipy_s_and_the_formula_s() -> None:
    found = paired_test(A, B)
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
    assert found.is_shown


def test_signed_ranks_are_tested_where_n_allows() -> None:
    first, second = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.9, 1.8, 2.7, 3.6, 4.5, 5.4]
    # all six differences are positive: p = 2 / 2^6
    assert paired_test(first, second).signed_rank == pytest.approx(2 / 64)
    assert paired_test(first[:5], second[:5]).signed_rank is None


def test_differences_without_a_spread_take_the_sign_test() -> None:
    found = paired_test([1.0, 1.0, 1.0], [0.5, 0.5, 0.5])
    assert (found.test, found.p) == ("sign test", 0.25)
    assert not found.is_shown
    same = paired_test([1.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    assert (same.difference, same.p, same.is_shown) == (0.0, 1.0, False)


def test_welch_where_seeds_differ() -> None:
    found = between(dict(enumerate(A)), {seed + 10: value for seed, value in enumerate(B)})
    theirs = stats.ttest_ind(A, B, equal_var=False)
    assert (found.test, found.n) == ("Welch's t test", (4, 4))
    assert found.p == pytest.approx(theirs.pvalue)
    assert found.interval == pytest.approx(tuple(theirs.confidence_interval(0.95)))
    degenerate = welch([1.0] * 3, [0.5] * 3)
    assert (
        not degenerate.test and not degenerate.is_shown and degenerate.why.startswith("neither has a spread")
    )


def test_pairs_are_of_the_same_seeds_whatever_their_order() -> None:
    first, second = {0: 0.90, 1: 0.93, 2: 0.88}, {2: 0.86, 0: 0.85, 1: 0.90, 7: 0.1}
    assert between(first, second).p == pytest.approx(stats.ttest_rel(A[:3], B[:3]).pvalue)


def test_too_few_seeds_are_said_and_show_nothing() -> None:
    found = between({0: 1.0}, {0: 0.0})
    assert (found.difference, found.test, found.is_shown) == (1.0, "", False)
    assert found.why == "one seed of a configuration cannot show a difference; train at least 3 of each"
    assert "no score" in between({}, {0: 1.0}).why


def test_holm_by_hand() -> None:
    # 0.01 × 3, 0.02 × 2, max(0.04, 0.03 × 1); what was not tested stays
    found = [Difference(difference=0.0, p=p) for p in (0.03, 0.01, None, 0.02)]
    assert [each.holm for each in holm(found)] == pytest.approx([0.04, 0.03, None, 0.04])
    assert holm([Difference(difference=0.0, p=0.9)] * 2)[0].holm == 1.0


def test_a_corrected_p_decides_whether_a_difference_is_shown() -> None:
    near = Difference(difference=1.0, interval=(0.1, 1.9), p=0.03)
    assert near.is_shown
    assert not holm([near, near])[0].is_shown


def test_mcnemar_of_right_and_wrong_examples() -> None:
    first, second = [1.0] * 12 + [0.0] * 2 + [1.0] * 20, [0.0] * 12 + [1.0] * 2 + [1.0] * 20
    found = of_examples(first, second)
    # 12 against 2 discordant examples: 2 · P(X <= 2), X binomial of 14
    assert found.p == pytest.approx(2 * sum(math.comb(14, k) for k in range(3)) / 2**14)
    assert found.difference == pytest.approx(10 / 34)
    assert found.n == (34,) and found.is_shown
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
