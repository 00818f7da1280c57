"""The talks' opening example, against loops in plain Python and the engine's attention."""

import math

import pytest
import torch

from attention_lab.models import ModelConfig, Trace
from attention_lab.models.engine import masks
from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.models.engine.trace import within
from attention_lab.models.mask_names import MASKS
from attention_lab.pages.lab.masks.mask import TALK, masked_softmax, scores_of, telling


def by_loops(scores: list[list[float]], allowed: list[list[bool]]) -> list[list[float]]:
    rows = []
    for row, seen in zip(scores, allowed, strict=True):
        powers = [math.exp(score) if may else 0.0 for score, may in zip(row, seen, strict=True)]
        total = sum(powers)
        rows.append([power / total if total else 0.0 for power in powers])
    return rows


@pytest.mark.parametrize("name", list(MASKS))
def test_any_scores_under_any_mask(name: str):
    scores = torch.randn(7, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    allowed = masks.named(name, "", 7)[0, 0]
    expected = torch.tensor(by_loops(scores.tolist(), allowed.tolist()), dtype=torch.float64)
    torch.testing.assert_close(masked_softmax(scores, allowed).pattern, expected, rtol=0, atol=1e-12)


def test_a_row_that_sees_nothing_is_nan_in_the_formula_and_zero_in_the_engine():
    allowed = masks.painted("110;000;011")[0, 0]
    result = masked_softmax(scores_of(3), allowed)
    assert result.softmax[1].isnan().all()
    assert result.softmax[[0, 2]].isfinite().all()
    assert result.pattern[1].tolist() == [0, 0, 0]

    attention = MultiHeadAttention(
        ModelConfig(kind="encoder-only", n_layers=1, n_heads=1, d_model=4, vocab_size=1, max_len=3)
    )
    x, trace = torch.randn(1, 3, 4, generator=torch.Generator().manual_seed(0)), Trace()
    attention(x, x, allowed[None, None], trace=within(trace, "here"))
    assert trace["here.z"][0, 1].tolist() == [0, 0, 0, 0]
    ours = masked_softmax((trace["here.q"] @ trace["here.k"].mT / 2)[0], allowed).pattern
    torch.testing.assert_close(trace["here.pattern"][0], ours)


def test_a_table_is_cut_or_continued():
    assert scores_of(2).tolist() == [[0.7, 0.1], [0.1, 0.6]]
    longer = scores_of(6)
    assert longer[:4, :4].tolist() == [list(row) for row in TALK]
    assert longer[5].tolist() == [0.1, 0.1, 0.1, 0.1, 0.1, 0.6]
    assert scores_of(3, [[9.0]]).tolist() == [[9, 0.1, 0.1], [0.1, 0.6, 0.1], [0.1, 0.1, 0.6]]


def test_the_row_to_tell_of_has_a_choice_and_something_hidden():
    told = telling(scores_of(4), masks.causal(4, 4)[0, 0])
    powers = [math.exp(score) for score in TALK[1]]
    assert told is not None
    assert (told.query, told.key, told.visible) == (1, 1, 2)
    assert told.without == pytest.approx(powers[1] / sum(powers))
    assert told.weight == pytest.approx(powers[1] / sum(powers[:2]))
    assert telling(scores_of(4), masks.named("none", "", 4)[0, 0]) is None
    alone = telling(scores_of(3), masks.painted("100;010;001")[0, 0])
    assert alone is not None and (alone.query, alone.key, alone.visible, alone.weight) == (0, 0, 1, 1)
    assert telling(scores_of(3), masks.painted("000;111;111")[0, 0]) is None
