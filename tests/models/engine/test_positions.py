"""Positions: the waves, the learned vectors, and the open registry."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models import ModelConfig, Transformer
from models.config import POSITION_SCHEMES
from models.engine.positions import POSITIONS, PositionScheme, register, sinusoids

SIZES: dict[str, Any] = {"n_layers": 1, "n_heads": 2, "d_model": 6, "vocab_size": 9, "max_len": 12}


def scheme(name: str, **fields: Any) -> PositionScheme:
    return POSITIONS[name](ModelConfig(kind="encoder-only", positions=name, **SIZES | fields))


@pytest.mark.parametrize("d_model", [1, 6, 7])
def test_sinusoids_are_equation_3_5(d_model: int):
    expected = [
        [
            (math.cos if c % 2 else math.sin)(position / 10_000 ** (2 * (c // 2) / d_model))
            for c in range(d_model)
        ]
        for position in range(12)
    ]
    torch.testing.assert_close(
        sinusoids(12, d_model), torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-12
    )


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


def test_the_config_knows_every_registered_name():
    assert list(POSITIONS) == POSITION_SCHEMES


def test_the_registry_is_open():
    try:

        @register("alternating")
        class Alternating(PositionScheme):
            def __init__(self, config: ModelConfig) -> None:
                super().__init__(config)
                self.gain = nn.Parameter(torch.rand(1))

            def forward(self, embeddings: Tensor, start: int = 0) -> Tensor:
                sign = 1.0 - 2.0 * (torch.arange(start, start + embeddings.shape[1]) % 2)
                return embeddings + self.gain * sign[:, None]

        config = ModelConfig(kind="decoder-only", positions="alternating", **SIZES)
        assert ModelConfig.from_dict(config.to_dict()) == config
        seen: list[Tensor] = []
        model = Transformer(config, seed=0)
        gain = model.decoder.positions.gain
        model.decoder.layers[0].register_forward_pre_hook(lambda _, args: seen.append(args[0]))
        model(torch.tensor([[3, 3]]))
        torch.testing.assert_close(seen[0][0, 0] - seen[0][0, 1], (2 * gain).expand(6))
        with torch.random.fork_rng():
            torch.manual_seed(9)
            again = Transformer(config, seed=0)
        assert torch.equal(gain, again.decoder.positions.gain)
        with pytest.raises(
            ValueError, match=r"^positions='alternating' is registered already; choose a name"
        ):
            register("alternating")(Alternating)
    finally:
        POSITIONS.pop("alternating", None)
        if "alternating" in POSITION_SCHEMES:
            POSITION_SCHEMES.remove("alternating")
