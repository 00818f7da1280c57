"""ALiBi against the paper's numbers, T5's buckets against transformers."""

import math

import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from attention_lab.models.engine.trace import Trace
from attention_lab.pages.lab.positions.biases import (
    TERMS,
    alibi_pattern,
    alibi_scores,
    bucket_matrix,
    four_terms,
    half_distance,
    never_trained,
    spread,
    trained_bias,
)


def test_alibi_pattern_is_a_softmax_of_the_papers_biases():
    """Press et al. 2022: for 8 heads 1/2, 1/4, ..., 1/256."""
    pattern, scores = alibi_pattern(8, 10), alibi_scores(8, 10)
    for head in range(8):
        slope = 1 / 2 ** (head + 1)
        for query in range(10):
            biases = [slope * (key - query) if key <= query else -math.inf for key in range(10)]
            assert scores[head, query].tolist() == biases
            weights = [math.exp(-slope * (query - key)) for key in range(query + 1)]
            expected = [weight / sum(weights) for weight in weights] + [0.0] * (9 - query)
            assert pattern[head, query].tolist() == pytest.approx(expected)


def test_at_half_distance_the_weight_is_half():
    for n_heads in (4, 8, 12):
        pattern = alibi_pattern(n_heads, 30)
        for head, distance in enumerate(half_distance(n_heads).tolist()):
            ratio = pattern[head, 29, 19] / pattern[head, 29, 29]
            assert ratio.item() == pytest.approx(0.5 ** (10 / distance))
    assert half_distance(4)[0].item() == pytest.approx(math.log(2) * 4)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_buckets_are_those_of_transformers(bidirectional: bool):
    position = torch.arange(140)
    expected = T5Attention._relative_position_bucket(  # it counts key minus query
        position - position[:, None], bidirectional=bidirectional, num_buckets=32, max_distance=128
    )
    assert torch.equal(bucket_matrix(140, bidirectional), expected)


def test_trained_bias_is_what_the_model_adds_to_its_scores(suite):
    lm = suite["t5"]
    bias = trained_bias(lm, 40)
    q = torch.zeros(1, 2, 40, 6, dtype=torch.float64)
    added = lm.model.decoder.positions.bias(q, q, layer=0, scale=1.0)[0]  # [head, query, key]
    for query in (0, 7, 39):
        for key in range(query + 1):
            torch.testing.assert_close(added[:, query, key], bias[:, query - key])


def test_distances_that_share_no_bucket_with_a_trained_one_were_never_trained():
    unseen = never_trained(32, 128)
    position = torch.arange(128)
    buckets = T5Attention._relative_position_bucket(-position, bidirectional=False).tolist()
    trained = set(buckets[:32])
    assert unseen.tolist() == [bucket not in trained for bucket in buckets]
    assert unseen.int().argmax() == 35


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
            for one, other in ((q[head, query], k[head, key]), (q[head, query], r), (u, k[head, key]), (v, r))
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
