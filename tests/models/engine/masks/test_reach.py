"""Reach over layers against a walk through the mask's graph, and against gradients of real layers."""

from collections import deque

import pytest
import torch

from models import ModelConfig
from models.engine import masks
from models.engine.attention import MultiHeadAttention
from models.mask_names import MASKS

NAMES = [name for name in MASKS if name != "none"]


def steps_from(allowed: list[list[bool]], query: int) -> list[int]:
    """Breadth first: how many steps along "may attend to" lead from the query to each token; -1 for none."""
    steps = [-1] * len(allowed)
    steps[query] = 0
    waiting = deque([query])
    while waiting:
        at = waiting.popleft()
        for key, may in enumerate(allowed[at]):
            if may and steps[key] < 0:
                steps[key] = steps[at] + 1
                waiting.append(key)
    return steps


@pytest.mark.parametrize("name", NAMES)
def test_reach_is_a_walk_of_as_many_steps_as_layers(name: str):
    allowed = masks.named(name, "", 11)[0, 0]
    walked = torch.tensor([steps_from(allowed.tolist(), query) for query in range(11)])
    assert masks.layers_needed(allowed).equal(walked)
    for layer, reached in enumerate(masks.reach(allowed, 8), start=1):
        assert reached.equal((walked >= 0) & (walked <= layer))


@pytest.mark.parametrize("seed", range(5))
def test_reach_under_random_masks(seed: int):
    allowed = torch.rand(9, 9, generator=torch.Generator().manual_seed(seed)) < 0.2
    walked = torch.tensor([steps_from(allowed.tolist(), query) for query in range(9)])
    assert masks.layers_needed(allowed).equal(walked)


@pytest.mark.parametrize("name", ["window", "causal+window", "fixed", "edges", "memory"])
def test_reach_is_where_gradients_arrive(name: str):
    """Attention with a residual: d output[query] / d input[key] is zero out of reach, and only there."""
    config = ModelConfig(kind="encoder-only", n_layers=1, n_heads=2, d_model=8, vocab_size=9, max_len=9)
    torch.manual_seed(0)
    layers = [MultiHeadAttention(config).double() for _ in range(3)]
    allowed = masks.named(name, "2" if "window" in name else "", 9)

    def run(x: torch.Tensor) -> torch.Tensor:
        for layer in layers:
            x = x + layer(x, x, allowed)
        return x[0]

    x = torch.randn(1, 9, 8, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(run, x)  # [query, channel, 1, key, channel]
    influenced = jacobian.abs().amax(dim=(1, 2, 4)) > 0
    assert influenced.equal(masks.reach(allowed[0, 0], 3)[-1])


def test_no_layers_reach_nothing():
    with pytest.raises(ValueError, match="n_layers=0 must be at least 1; try n_layers=2"):
        masks.reach(torch.ones(2, 2, dtype=torch.bool), 0)


def test_one_token_needs_no_layer():
    assert masks.layers_needed(torch.zeros(1, 1, dtype=torch.bool)).tolist() == [[0]]
