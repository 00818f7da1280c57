"""The four terms of Transformer-XL against plain loops, and their sum against the scores that ran."""

import math

import pytest
import torch

from models.engine.trace import Trace
from models.lessons.positions.four_terms import TERMS, four_terms, spread


def test_the_terms_sum_to_the_scores_of_the_trace(suite, ids):
    lm = suite["transformer-xl"]
    trace = Trace()
    with torch.no_grad():
        lm.model(ids[None], trace=trace)
    for layer in (0, 1):
        total = four_terms(lm, ids, layer).sum(dim=0)
        scores = trace[f"decoder.{layer}.self.scores"]
        seen = scores.isfinite()
        torch.testing.assert_close(total[seen], scores[seen])
        assert seen.sum() == 2 * len(ids) * (len(ids) + 1) / 2


def test_each_term_is_its_formula(suite, ids):
    lm = suite["transformer-xl"]
    trace = Trace()
    with torch.no_grad():
        lm.model(ids[None], trace=trace)
    q, k = trace["decoder.1.self.q"], trace["decoder.1.self.k"]
    scheme = lm.model.decoder.positions
    terms = four_terms(lm, ids, 1)
    assert terms.shape == (len(TERMS), 2, len(ids), len(ids))
    weight = scheme.r_proj[1].weight.detach()
    for head, query, key in [(0, 5, 2), (1, 9, 0), (1, 3, 3), (0, 11, 10)]:
        wave = []
        for channel in range(0, 12, 2):
            angle = (query - key) / 10_000 ** (channel / 12)
            wave += [math.sin(angle), math.cos(angle)]
        r = (weight @ torch.tensor(wave, dtype=torch.float64))[head * 6 : head * 6 + 6]
        u, v = scheme.u[head, 0].detach(), scheme.v[head, 0].detach()
        expected = [
            sum(a * b for a, b in zip(one.tolist(), other.tolist(), strict=True)) / math.sqrt(6)
            for one, other in (
                (q[head, query], k[head, key]),
                (q[head, query], r),
                (u, k[head, key]),
                (v, r),
            )
        ]
        assert terms[:, head, query, key].tolist() == pytest.approx(expected, abs=1e-9)


def test_spread_is_a_deviation_over_visible_keys_in_a_plain_loop():
    terms = torch.randn(4, 2, 5, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = spread(terms)
    for term, head in [(0, 0), (3, 1)]:
        deviations = []
        for query in range(5):
            seen = terms[term, head, query, : query + 1].tolist()
            mean = sum(seen) / len(seen)
            deviations.append(math.sqrt(sum((value - mean) ** 2 for value in seen) / len(seen)))
        assert found[term, head].item() == pytest.approx(sum(deviations) / 5)
    alike_for_all_keys = torch.randn(4, 2, 5, 1, dtype=torch.float64).expand(4, 2, 5, 5)
    assert spread(alike_for_all_keys).abs().max() < 1e-12
