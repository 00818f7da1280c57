"""Softmax in float32, bfloat16 and float16: where it breaks, and by how much it errs."""

import math

import numpy as np
import pytest
import torch

from attention_lab.pages.lab.softmax.formats import (
    FORMATS,
    HEIGHTS,
    compute,
    fails,
    logits,
    naive,
    overflow_at,
    stable,
)

NAMES = list(FORMATS)


def underflow_at(dtype: torch.dtype) -> float:
    """The logit below which exp is not even half of the smallest number above 0, so that it becomes 0."""
    info = torch.finfo(dtype)
    return math.log(info.smallest_normal * info.eps / 2)


def at(height: int) -> int:
    return HEIGHTS.tolist().index(height)


def computed(name, *, subtract_max):
    return compute(logits(), FORMATS[name], subtract_max=subtract_max)


@pytest.mark.parametrize(
    ("name", "overflow", "underflow"),
    [("float32", 88.72, -103.97), ("bfloat16", 88.72, -92.88), ("float16", 11.09, -17.33)],
)
def test_the_limits_of_the_formats(name, overflow, underflow):
    dtype = FORMATS[name]
    assert overflow_at(dtype) == pytest.approx(overflow, abs=0.005)
    assert underflow_at(dtype) == pytest.approx(underflow, abs=0.005)
    result = computed(name, subtract_max=False)
    # The first and the last whole height at which exp of the largest logit is a number above 0.
    largest = result.exps[:, 0]
    assert HEIGHTS[largest.isinf()].min() == math.ceil(overflow)
    assert HEIGHTS[largest == 0].max() == math.floor(underflow)


@pytest.mark.parametrize("name", NAMES)
def test_naive_gives_nan_beyond_both_limits_and_wrong_zeros_where_only_the_sum_overflows(name):
    dtype, result = FORMATS[name], computed(name, subtract_max=False)
    beyond = HEIGHTS.gt(overflow_at(dtype)) | HEIGHTS.lt(underflow_at(dtype))
    assert torch.equal(result.weights.isnan().any(-1), beyond)
    assert torch.equal(result.error.isnan(), beyond)
    sum_overflow = ~beyond & result.total.isinf()
    assert sum_overflow.any()
    assert (result.weights[sum_overflow] == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_naive_by_numpy_step_by_step(name):
    if name == "bfloat16":
        pytest.skip("numpy has no bfloat16")
    with np.errstate(all="ignore"):
        x = logits().numpy().astype(name)
        exps = np.exp(x)
        expected = exps / exps.sum(-1, keepdims=True)
    inside = slice(at(-10), at(9))
    np.testing.assert_allclose(naive(logits().to(FORMATS[name]))[2][inside], expected[inside], rtol=2e-3)


@pytest.mark.parametrize("name", NAMES)
def test_subtracting_the_maximum_is_what_torch_does(name):
    x = logits().to(FORMATS[name])
    exps, total, weights = stable(x)
    assert exps.max() == 1
    assert total.isfinite().all()
    epsilon = torch.finfo(x.dtype).eps
    torch.testing.assert_close(weights.double(), x.softmax(-1).double(), rtol=3 * epsilon, atol=0)


@pytest.mark.parametrize(
    ("name", "first", "last"), [("float32", -100, 87), ("bfloat16", -90, 87), ("float16", -14, 9)]
)
def test_where_the_formula_as_written_fails(name, first, last):
    failing = fails(computed(name, subtract_max=False), computed(name, subtract_max=True))
    works = HEIGHTS[~failing]
    assert works.tolist() == list(range(int(works.min()), last + 1))  # one stretch, up to the overflow
    assert abs(works.min() - first) <= 2


def test_bfloat16_pays_for_its_range_with_digits():
    error = {name: computed(name, subtract_max=True).error[at(80)].item() for name in NAMES}
    assert error["float32"] < 1e-5 < error["float16"] < 0.005 < 0.02 < error["bfloat16"] < 0.1
    # The logits were rounded before the softmax began: the exact softmax of the rounded ones errs as much.
    exact = logits()[at(80)].softmax(-1)
    rounded = logits()[at(80)].bfloat16().double().softmax(-1)
    assert (rounded - exact).abs().max().item() == pytest.approx(error["bfloat16"], rel=0.1)
