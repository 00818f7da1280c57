"""Pairs kept, by closed forms."""

import math

import pytest
import torch

from attention_lab.pages.lab.masks.cost import by_length, by_stride


def strided_pairs(n: int, stride: int) -> int:
    """Query i sees itself, the `stride` tokens before it, and the multiples of the stride beyond those."""
    return sum(min(i, stride) + 1 + max(0, i // stride - 1) for i in range(n))


def fixed_pairs(n: int, stride: int) -> int:
    """Query i sees its own block up to itself, and one token of each block before."""
    return sum(i % stride + 1 + i // stride for i in range(n))


def test_counts_are_those_of_the_closed_forms():
    sizes = torch.tensor([1, 4, 10, 64, 100])
    counts = by_length(sizes)
    for at, n in enumerate(sizes.tolist()):
        root = round(math.sqrt(n))
        assert counts.full[at] == n * n
        assert counts.causal[at] == n * (n + 1) // 2
        assert counts.window[at] == sum(min(i + 1, root) for i in range(n))
        assert counts.strided[at] == strided_pairs(n, root)
        assert counts.fixed[at] == fixed_pairs(n, root)
        assert counts.n_sqrt_n[at].item() == pytest.approx(n * math.sqrt(n))


def test_strides_of_one_text():
    result = by_stride(48, 48)
    assert result.strided.shape == result.fixed.shape == (48, 48, 48)
    assert result.strided_kept.tolist() == [strided_pairs(48, stride) for stride in range(1, 49)]
    assert result.fixed_kept.tolist() == [fixed_pairs(48, stride) for stride in range(1, 49)]
    best = 1 + result.strided_kept.argmin().item()
    assert abs(best - math.sqrt(48)) < 3
