"""Scores of rotary positions against complex numbers, and those of added waves against a plain loop."""

import math

import pytest
import torch

from attention_lab.pages.lab.positions.rotary import added_scores
from attention_lab.pages.lab.positions.waves import by_distance

GENERATOR = torch.Generator().manual_seed(0)
Q = torch.randn(8, generator=GENERATOR, dtype=torch.float64)
K = torch.randn(8, generator=GENERATOR, dtype=torch.float64)
BASE = 10_000


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
