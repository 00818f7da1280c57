"""Intervals beside those of scipy: the percentile bootstrap, and Wilson's of what is right or wrong."""

import numpy as np
import pytest
import torch
from scipy.stats import binomtest, bootstrap

from models.data.tasks import Each
from models.scores.intervals import MANY, interval, loss_interval, method, n_resamples, resampled, right_of

RNG = np.random.default_rng(0)


def each(above, below) -> Each:
    return Each(*(torch.tensor(side, dtype=torch.float64) for side in (above, below)))


def quotient(above, below, axis):
    return above.sum(axis=axis) / below.sum(axis=axis)


@pytest.mark.parametrize("n", [20, 300])
def test_the_interval_of_a_quotient_is_that_of_scipy(n: int) -> None:
    below = RNG.integers(1, 30, n)
    above = below * RNG.gamma(2.0, 1.0, n)
    wanted = bootstrap(
        (above, below), quotient, paired=True, vectorized=True, method="percentile", n_resamples=20_000, rng=1
    ).confidence_interval
    low, high = interval(each(above, below))
    width = wanted.high - wanted.low
    assert low == pytest.approx(wanted.low, abs=0.08 * width)
    assert high == pytest.approx(wanted.high, abs=0.08 * width)
    assert interval(each(above, below)) == (low, high), "seeded"
    assert low < above.sum() / below.sum() < high


@pytest.mark.parametrize(("right", "n"), [(0, 256), (256, 256), (0, 7), (3, 27), (35, 64), (29, 30)])
def test_examples_that_are_right_or_wrong_have_wilsons_interval(right: int, n: int) -> None:
    wanted = binomtest(right, n).proportion_ci(method="wilson")
    found = interval(each([1.0] * right + [0.0] * (n - right), [1.0] * n))
    assert found == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert (found[0] == 0) is (right == 0) and (found[1] == 1) is (right == n)


def test_examples_of_several_answers_count_once_where_all_are_alike() -> None:
    wanted = binomtest(9, 9).proportion_ci(method="wilson")
    assert interval(each([3.0] * 9, [3.0] * 9)) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert right_of(each([3.0, 2.0], [3.0, 3.0])) is None and right_of(each([0.4, 0.0], [1.0, 1.0])) is None


def test_examples_that_do_not_count_change_nothing_and_one_alone_has_no_interval() -> None:
    assert interval(each([1.0], [1.0])) is None and interval(each([1.0, 0.0], [1.0, 0.0])) is None
    assert interval(each([0.0] * 9, [0.0] * 9)) is None
    low, high = interval(each([0.0, 1.0] * 50 + [0.0] * 30, [1.0] * 100 + [0.0] * 30))
    assert 0.38 < low < 0.42 and 0.58 < high < 0.62


def test_many_examples_are_drawn_fewer_times_and_in_pieces() -> None:
    assert (n_resamples(256), n_resamples(MANY), n_resamples(2 * MANY), n_resamples(10**6)) == (
        1000,
        1000,
        500,
        200,
    )
    assert method(256) == "percentile bootstrap over examples, 1,000 resamples"
    above = RNG.normal(3.0, 1.0, 20_000)
    found = resampled(each(above, np.ones(20_000)))
    assert len(found) == 204 and found.std() == pytest.approx(above.std() / 20_000**0.5, rel=0.2)


def test_a_sum_of_losses_is_resampled_together() -> None:
    one = RNG.normal(2.0, 0.5, 100)
    both = {"a": each(one, np.ones(100)), "b": each(10 - one, np.ones(100))}
    low, high = loss_interval(both, {"a": 1.0, "b": 1.0})
    assert low == pytest.approx(10) and high == pytest.approx(10), "what one gains the other loses"
    assert loss_interval({"a": both["a"]}, {"a": 2.0}) == pytest.approx(
        tuple(2 * edge for edge in interval(both["a"]))
    )
