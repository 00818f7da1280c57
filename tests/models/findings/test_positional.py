"""Positional heads, counted again by hand."""

from collections import Counter
from itertools import islice

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.findings import findings
from attention_lab.models.findings.positional import HeadCounts, count_positions
from attention_lab.models.findings.sources import sentences

FINDING = findings()["positional"]


def test_shakespeare_has_heads_that_look_at_a_fixed_distance() -> None:
    model, texts = load_model("shakespeare"), 6
    found = FINDING.measured(model, texts=texts)
    shares, confidences = {}, {}
    traces = []
    for text in islice(sentences(), 100):
        if len(text) <= 64 and len(traces) < texts:
            traces.append(model.trace(text))
    for layer in range(4):
        for head in range(4):
            offsets, maxima = [], []
            for trace in traces:
                pattern = trace[f"decoder.{layer}.self.pattern"][head]
                for query in range(1, len(pattern)):
                    key = int(pattern[query].argmax())
                    offsets.append(key - query)
                    maxima.append(float(pattern[query, key]))
            offset, count = Counter(offsets).most_common(1)[0]
            shares[f"L{layer} H{head} ({offset:+d})".replace("-", "−")] = count / len(offsets)
            confidences[f"L{layer} H{head}"] = sum(maxima) / len(maxima)
    share, confidence = found.charts
    assert dict(zip(share.x, share.series["share"], strict=True)) == pytest.approx(shares)
    assert dict(zip(confidence.x, confidence.series["confidence"], strict=True)) == pytest.approx(confidences)
    numbers = {each.label: each.value for each in found.numbers}
    assert numbers["positional heads"] == sum(share >= 0.9 for share in shares.values()) > 0
    assert numbers["confident heads"] == sum(each > 0.8 for each in confidences.values())
    assert found.holds
    assert "Layer 0 head 3 has its maximum at offset −1" in found.said


def test_heads_of_two_stacks_are_told_apart() -> None:
    found = FINDING.measured(load_model("translator"), texts=2)
    assert [name for name in found.charts[1].x if name.endswith("L0 H3")] == [
        "encoder L0 H3",
        "decoder L0 H3",
    ]


def test_marks_neither_ask_nor_are_looked_at() -> None:
    pattern = torch.tensor([[[0.9, 0.05, 0.05], [0.8, 0.15, 0.05], [0.7, 0.1, 0.2]]])
    heads = [HeadCounts()]
    count_positions(pattern, [1, 2], heads, causal=False)
    assert heads[0].offsets == Counter({0: 2})
    assert heads[0].maxima == pytest.approx([0.15, 0.2])
    assert heads[0].usual == (0, 1.0)
