"""Rare-word heads, counted again by hand."""

from collections import Counter
from itertools import islice

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.findings import findings
from attention_lab.models.findings.rare_words import Hits, _outcome, count_rarest
from attention_lab.models.findings.sources import sentences

FINDING = findings()["rare-words"]


def test_the_shares_of_the_masked_model_are_those_counted_by_hand() -> None:
    model, texts = load_model("masked"), 8
    found = FINDING.measured(model, texts=texts)
    traces = [model.trace(text) for text in islice(sentences(), texts)]
    frequencies = Counter(token for trace in traces for token in trace.tokens["encoder"] if token[0] != "[")
    hits, asked, chance = Counter[str](), 0, 0.0
    for trace in traces:
        words = {at: token for at, token in enumerate(trace.tokens["encoder"]) if token[0] != "["}
        least = min(frequencies[token] for token in words.values())
        rarest = {at for at, token in words.items() if frequencies[token] == least}
        assert rarest != set(words)
        asked, chance = asked + len(words), chance + len(rarest)
        for layer in range(2):
            for head, pattern in enumerate(trace[f"encoder.{layer}.self.pattern"].tolist()):
                for query in words:
                    hits[f"L{layer} H{head}"] += max(words, key=lambda key: pattern[query][key]) in rarest
    (chart,) = found.charts
    assert dict(zip(chart.x, chart.series["share"], strict=True)) == pytest.approx(
        {name: hits[name] / asked for name in chart.x}
    )
    numbers = [number.value for number in found.numbers]
    assert numbers[0] == max(chart.series["share"])
    assert numbers[1] == max(chart.series["share"][:4])
    assert numbers[2] == pytest.approx(chance / asked)


def test_a_causal_word_sees_what_comes_before_alone() -> None:
    pattern = torch.tensor([[[1.0, 0, 0], [0.2, 0.8, 0], [0.3, 0.6, 0.1]]])
    hits = [Hits()]
    chance = count_rarest(pattern, [0, 1, 2], [5, 2, 1], hits, causal=True)
    assert (hits[0].asked, hits[0].rarest) == (2, 1)  # the first has no choice, and the third misses
    assert chance == pytest.approx(1 / 2 + 1 / 3)


def test_it_holds_for_half_of_the_words_and_twice_what_chance_gives() -> None:
    heads = {"L0 H0": Hits(10, 6), "L1 H0": Hits(10, 9)}
    assert _outcome(heads, 0.3, 0.5).holds
    assert not _outcome(heads, 0.31, 0.5).holds
    assert not _outcome(heads, 0.3, 0.7).holds
