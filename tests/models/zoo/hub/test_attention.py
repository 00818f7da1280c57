"""Scores that hide a key are told from others by a rule that is written out here, number by number."""

import math

import pytest
import torch
from torch import Tensor

from attention_lab.models.zoo.hub.attention import infinite_where_hidden


def by_hand(scores: Tensor) -> list[list[float]]:
    least = max(0.9 * torch.finfo(scores.dtype).min, -5e8)
    shown = []
    for row in scores.tolist():
        known = [score for score in row if not math.isnan(score)]
        beside = -math.inf if len(known) < len(row) else max(row) - 1e4
        most = max(least, beside)
        shown.append([-math.inf if score <= most or score == -1e4 else score for score in row])
    return shown


@pytest.mark.parametrize("spread", [1.0, 3e3, 1e5])
@pytest.mark.parametrize("hiding", [torch.finfo(torch.float32).min, -1e9, -1e4, -math.inf, math.nan])
def test_what_hides_a_key_is_infinite(spread: float, hiding: float) -> None:
    draw = torch.Generator().manual_seed(int(spread))
    for dtype in (torch.float32, torch.float64):
        scores = (spread * torch.randn(6, 8, generator=draw)).to(dtype)
        scores[torch.rand(6, 8, generator=draw) < 0.4] = hiding
        scores[5] = torch.finfo(dtype).min  # a row that sees nothing
        want = torch.tensor(by_hand(scores), dtype=dtype)
        torch.testing.assert_close(infinite_where_hidden(scores), want, rtol=0, atol=0, equal_nan=True)


def test_a_score_between_the_rows_thresholds_is_judged_by_its_own_row() -> None:
    scores = torch.tensor([[2e4, 5e3, 1.0], [0.0, 5e3, 1.0]])
    assert infinite_where_hidden(scores).tolist() == [[2e4, -math.inf, -math.inf], [0.0, 5e3, 1.0]]
