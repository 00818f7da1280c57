"""Attention sinks: the weight on the first tokens, and windows, computed in other ways."""

import math
from dataclasses import replace

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.findings import findings
from attention_lab.models.findings.sinks import equal_share, hiding, on_first, perplexity, window
from attention_lab.models.findings.sources import longest

FINDING = findings()["sinks"]


def test_weight_on_the_first_tokens_is_the_mean_of_rows() -> None:
    pattern = torch.rand(2, 6, 6, generator=torch.Generator().manual_seed(0)).tril()
    pattern /= pattern.sum(dim=-1, keepdim=True)
    rows = [pattern[1, query, 0] + pattern[1, query, 1] for query in (3, 4, 5)]
    assert float(on_first(pattern, 2)[1]) == pytest.approx(float(sum(rows)) / 3)
    alike = torch.ones(6, 6).tril()
    alike /= alike.sum(dim=-1, keepdim=True)
    assert equal_share(6, 2) == pytest.approx(float(on_first(alike[None], 2)))
    assert equal_share(6, 2) == pytest.approx((2 / 4 + 2 / 5 + 2 / 6) / 3)


def test_a_window_keeps_the_nearest_and_the_first() -> None:
    assert [at for at, seen in enumerate(window(8, 3, 0)[6].tolist()) if seen] == [4, 5, 6]
    assert [at for at, seen in enumerate(window(8, 3, 1)[6].tolist()) if seen] == [0, 5, 6]
    assert [at for at, seen in enumerate(window(8, 3, 1)[1].tolist()) if seen] == [0, 1]


def test_the_perplexity_through_a_window_is_that_of_a_mask() -> None:
    model = load_model("shakespeare")
    reading = longest(model, 40)
    open_ = window(len(reading.tokens["decoder"]), 8, 4)
    trace = model.trace(replace(reading, allowed=open_[None, None]))
    ids = reading.inputs[0][0].tolist()
    nats = [-float(trace["logits"][at].log_softmax(dim=-1)[ids[at + 1]]) for at in range(8, len(ids) - 1)]
    asked = perplexity(model, reading, 8, hiding(open_))
    assert asked == pytest.approx(math.exp(sum(nats) / len(nats)), rel=1e-4)
    assert asked != pytest.approx(perplexity(model, reading, 8), rel=1e-4)


def test_a_window_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="a window of 4 keys has no room beside the 4 first; widen it"):
        FINDING.measured(load_model("shakespeare"), width=4)
    with pytest.raises(ValueError, match="this takes more than 61; choose another decoder, more tokens"):
        FINDING.measured(load_model("shakespeare"), width=60, tokens=40)
