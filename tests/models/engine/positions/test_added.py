"""The waves and the learned vectors, added to the embeddings."""

import math
from typing import Any

import pytest
import torch

from models import ModelConfig
from models.engine.positions import POSITIONS, PositionScheme, sinusoids, waves

SIZES: dict[str, Any] = {"n_layers": 1, "n_heads": 2, "d_model": 6, "vocab_size": 9, "max_len": 12}


def scheme(name: str, **fields: Any) -> PositionScheme:
    return POSITIONS[name](ModelConfig(kind="encoder-only", positions=name, **SIZES | fields))


@pytest.mark.parametrize("base", [10_000, 2.5])
@pytest.mark.parametrize("d_model", [1, 6, 7])
def test_sinusoids_are_those_of_the_paper(d_model: int, base: int | float):
    """Vaswani et al. 2017, 3.5, where the base is 10,000."""
    expected = [
        [
            (math.cos if c % 2 else math.sin)(position / base ** (2 * (c // 2) / d_model))
            for c in range(d_model)
        ]
        for position in range(-4, 12)
    ]
    table = torch.tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(sinusoids(12, d_model, base), table[4:], rtol=0, atol=1e-12)
    torch.testing.assert_close(waves(torch.arange(-4, 12), d_model, base), table, rtol=0, atol=1e-12)


def test_waves_between_whole_positions():
    halves = waves(torch.tensor([0.5, 1.5]), 4)
    torch.testing.assert_close(halves[:, 0], torch.tensor([0.5, 1.5], dtype=torch.float64).sin())
    assert torch.equal(sinusoids(3, 4), sinusoids(3, 4, 10_000.0))


def test_a_shift_turns_every_wave_by_the_same_angle():
    """Vaswani et al. 2017, 3.5: so the dot product of two positions depends on their distance alone."""
    table = sinusoids(40, 32)
    products = table @ table.T
    for shift in range(10):
        diagonal = products.diagonal(shift)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))


@pytest.mark.parametrize("name", ["none", "sinusoidal", "learned"])
def test_start_continues_where_the_cache_ends(name: str):
    module, x = scheme(name), torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))
    in_parts = torch.cat([module(x[:, :2]), module(x[:, 2:], start=2)], dim=1)
    torch.testing.assert_close(in_parts, module(x), rtol=0, atol=0)


def test_none_adds_nothing():
    x = torch.ones(1, 3, 6)
    assert torch.equal(scheme("none")(x), x)


def test_learned_vectors_are_trained():
    module = scheme("learned")
    module(torch.zeros(1, 3, 6)).sum().backward()
    gradient = module.embedding.weight.grad
    assert (gradient[:3] != 0).all()
    assert (gradient[3:] == 0).all()


def test_waves_keep_their_precision_through_float32_and_stay_out_of_checkpoints():
    module = scheme("sinusoidal").float()
    module(torch.zeros(1, 12, 6))
    precise = module.double()(torch.zeros(1, 12, 6, dtype=torch.float64))
    torch.testing.assert_close(precise[0], sinusoids(12, 6), rtol=0, atol=0)
    assert not module.state_dict()
