"""Table 3: the paper's numbers as published, and ours as shipped weights and scored seeds give them."""

import json
import math
import statistics

import numpy as np
import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.data.grammar import showcase
from attention_lab.models.zoo.families import FAMILIES, SCORES
from attention_lab.models.zoo.folders import SHIPPED
from attention_lab.pages.lab.design import table3

PUBLISHED = """
4.92 25.8 | 5.29 24.9 | 5.00 25.5 | 4.91 25.8 | 5.01 25.4 | 5.16 25.1 | 5.01 25.4 | 6.11 23.7 | 4.88 25.5
| 5.75 24.5 | 4.66 26.0 | 5.12 25.4 | 4.75 26.2 | 5.77 24.6 | 4.67 25.3 | 4.92 25.7
"""


def test_the_papers_numbers_are_the_published_ones():
    numbers = [[float(each) for each in pair.split()] for pair in PUBLISHED.split("|")]
    assert [[row.ppl, row.bleu] for row in table3.ROWS] == numbers


def test_each_row_is_a_member_of_the_family_with_its_own_name():
    members = FAMILIES["translator-sizes"].members()
    for row in table3.ROWS:
        assert table3.FAMILY.member(row.values) in members
        for name, value in row.turned.items():
            said = str(value) if isinstance(value, str) else f"→ {value:g}"
            assert said in row.name
            if not isinstance(value, str):
                assert f"{table3.FAMILY.first[name]:g} →" in row.name


def test_the_weights_are_those_of_the_shipped_models_own_pass():
    pair = showcase("wide")
    row = next(row for row in table3.ROWS if row.turned == {"n_layers": 1})
    lm = load_model("translator-sizes/n_layers-1")
    ids = lm.read(" ".join(pair.english)).inputs[0]
    with torch.no_grad():
        x = lm.model.embedding(ids) * 8
        layer = lm.model.encoder.layers[0]
        h = layer.self_norm(x + _waves(ids.shape[1], 64))
        q, k = layer.self_attention.q_proj(h)[0], layer.self_attention.k_proj(h)[0]
    at = pair.english_mention.pronoun + 1
    rows = []
    for head in range(4):
        part = slice(16 * head, 16 * head + 16)
        rows.append(((q[at, part] @ k[:, part].T) / 4).softmax(-1))
    noun = pair.english_mention.antecedent + 1
    best = max(rows, key=lambda weights: weights[noun])
    np.testing.assert_allclose(table3.looks(row, "wide")[0], best[1:-1].numpy(), atol=1e-5)


def _waves(n: int, d: int) -> torch.Tensor:
    """Vaswani et al. 2017, 3.5."""
    table = [
        [
            math.sin(at / 10_000 ** (c / d)) if c % 2 == 0 else math.cos(at / 10_000 ** ((c - 1) / d))
            for c in range(d)
        ]
        for at in range(n)
    ]
    return torch.tensor(table)


def test_the_mean_and_the_interval_are_students():
    known = json.loads((SHIPPED / "translator-sizes" / SCORES).read_text())
    values = [each["perplexity"] for each in known["n_heads-1"]]
    mean, half = table3.of_seeds(table3.ROWS[1], "perplexity")
    assert mean == pytest.approx(statistics.fmean(values))
    assert len(values) == 3
    assert half == pytest.approx(4.302653 * statistics.stdev(values) / math.sqrt(3), rel=1e-6)
