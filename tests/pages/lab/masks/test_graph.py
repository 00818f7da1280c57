"""Attention on a graph, against a node by node loop."""

import math

import torch

from attention_lab.models.engine import masks
from attention_lab.pages.lab.masks.graph import _attention, answers, features_of, step

EDGES = [(0, 1), (1, 2), (2, 3), (1, 4)]
ALLOWED = masks.edges(6, EDGES)[0, 0]


@torch.no_grad()
def test_a_node_is_the_weighted_mean_of_its_neighbours():
    features = features_of(6, seed=3)
    result = step(features, ALLOWED, seed=1)
    attention = _attention(4, 1)
    q, k, v = (layer(features).tolist() for layer in (attention.q_proj, attention.k_proj, attention.v_proj))
    for node in range(6):
        neighbours = [other for other in range(6) if other == node or ALLOWED[node, other]]
        powers = {
            other: math.exp(sum(a * b for a, b in zip(q[node], k[other], strict=True)) / 2)
            for other in neighbours
        }
        total = sum(powers.values())
        expected = torch.tensor([powers.get(other, 0) / total for other in range(6)])
        torch.testing.assert_close(result.pattern[node], expected, rtol=0, atol=1e-6)
        z = sum(expected[other] * torch.tensor(v[other]) for other in range(6))
        torch.testing.assert_close(result.out[node], attention.out_proj(z), rtol=0, atol=1e-6)


def test_only_neighbours_answer_to_a_changed_node():
    moved = answers(features_of(6, seed=3), ALLOWED, 1)
    assert (moved[[0, 1, 2, 4]] > 1e-4).all()
    assert moved[[3, 5]].tolist() == [0, 0]
