"""A difference of patterns: the shipped models' numbers, computed again from q and k in plain float64."""

from itertools import islice

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.findings import findings
from attention_lab.models.findings.difference_of_patterns import MODELS, shares_of
from attention_lab.models.findings.retrieval_heads import fetch_of, texts

COUNT = 6


def rows_by_hand(lm, fetch, layer):
    """Rows of weights of a layer's heads or pairs, from its q and k."""
    trace = lm.trace(fetch.reading)
    q, k = (trace[f"decoder.{layer}.self.{part}"].double() for part in "qk")
    attention = lm.model.decoder.layers[layer].self_attention
    heads = []
    for head in range(len(q)):
        rows = []
        for row in fetch.rows:
            powers = (q[head, row] @ k[head, : row + 1].T / q.shape[-1] ** 0.5).exp()
            rows.append(torch.nn.functional.pad(powers / powers.sum(), (0, len(k[0]) - row - 1)))
        heads.append(torch.stack(rows))
    if not lm.config.differential:
        return heads
    part = attention.difference
    factor = (part.q1 @ part.k1).exp() - (part.q2 @ part.k2).exp() + 0.8 - 0.6 * 2.718281828 ** (-0.3 * layer)
    half = len(heads) // 2
    return [heads[at] - factor.double() * heads[half + at] for at in range(half)]


@pytest.mark.parametrize("file", MODELS.values())
def test_shares_are_those_of_the_shipped_weights(file):
    lm = load_model(file)
    fetch = next(filter(None, (fetch_of(lm.read(text)) for text in texts(64, "any"))))
    tokens = [token.strip() for token in fetch.reading.tokens["decoder"]]
    question = tokens.index("?") if "?" in tokens else 0
    found = shares_of(lm, fetch)
    for layer in range(lm.config.n_layers):
        answers, rests = [], []
        for head in rows_by_hand(lm, fetch, layer):
            for row in head.abs().tolist():
                answers.append(sum(row[at] for at in fetch.places) / sum(row))
                rests.append(sum(row[at] for at in range(question) if at not in fetch.places) / sum(row))
        expected = [sum(each) / len(each) for each in (answers, rests)]
        assert found[:, layer].tolist() == pytest.approx(expected, abs=1e-5)


def test_the_pair_differs_in_one_setting_and_both_answer():
    one, two = (load_model(file) for file in MODELS.values())
    assert one.config.to_dict() == {**two.config.to_dict(), "differential": False}
    assert one.card["training"]["steps"] == two.card["training"]["steps"]
    outcome = findings()["difference-of-patterns"].measured(None, count=COUNT)
    values = {number.label: number.value for number in outcome.numbers}
    answered = [fetch_of(two.read(text)) for text in islice(texts(64, "any"), COUNT)]
    assert all(answered)
    shares = torch.stack([shares_of(two, fetch) for fetch in answered]).mean(dim=(0, 2))
    assert values["a difference: share on the answer"] == pytest.approx(shares[0].item())
    assert values["a difference: share on the rest"] == pytest.approx(shares[1].item())
