"""Scores of rotary positions against complex numbers, and those of added waves against a plain loop."""

import cmath
import math

import numpy as np
import pytest
import torch

from attention_lab.pages.lab.positions.rotary import added_scores, rotary_scores, turn
from attention_lab.pages.lab.positions.waves import by_distance

GENERATOR = torch.Generator().manual_seed(0)
Q = torch.randn(8, generator=GENERATOR, dtype=torch.float64)
K = torch.randn(8, generator=GENERATOR, dtype=torch.float64)
BASE = 10_000


def as_complex(x: torch.Tensor, position: float, base: float) -> list[complex]:
    """Su et al. 2021: channels 2i and 2i + 1 are a complex number, multiplied by e^(i * position * theta)."""
    return [
        complex(x[2 * i], x[2 * i + 1]) * cmath.exp(1j * position / base ** (2 * i / len(x)))
        for i in range(len(x) // 2)
    ]


def complex_score(m: float, n: float, base: float = BASE) -> float:
    products = zip(as_complex(Q, m, base), as_complex(K, n, base), strict=True)
    return sum((a * b.conjugate()).real for a, b in products)


def test_the_angle_is_from_k_to_q():
    turned = turn(Q, K, torch.tensor([9]), 4, BASE)
    quotients = zip(as_complex(Q, 9, BASE), as_complex(K, 5, BASE), strict=True)
    np.testing.assert_allclose(turned.angle[0].numpy(), [cmath.phase(q / k) for q, k in quotients])


def test_all_scores_depend_on_the_distance_only():
    scores = rotary_scores(Q, K, 12, BASE)
    for m in range(12):
        for n in range(12):
            assert scores[m, n].item() == pytest.approx(complex_score(m, n), abs=1e-12)
    assert by_distance(scores).spread < 1e-12


def test_added_waves_give_scores_that_know_more_than_the_distance():
    scores = added_scores(Q, K, 6, BASE)
    wave = [
        [(math.cos if c % 2 else math.sin)(p / BASE ** (2 * (c // 2) / 8)) for c in range(8)]
        for p in range(6)
    ]
    for m in range(6):
        for n in range(6):
            expected = sum((Q[c].item() + wave[m][c]) * (K[c].item() + wave[n][c]) for c in range(8))
            assert scores[m, n].item() == pytest.approx(expected)
    assert by_distance(scores).spread > 1
