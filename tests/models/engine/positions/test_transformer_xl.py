"""Transformer-XL's relative positions: against a float64 loop over the paper's four terms."""

import math

import pytest
import torch

from models import ModelConfig
from models.engine.positions import POSITIONS, PositionScheme


def scheme(**fields: int) -> PositionScheme:
    sizes = {"n_layers": 2, "n_heads": 3, "d_model": 8, "d_head": 4, "vocab_size": 5, "max_len": 9} | fields
    config = ModelConfig(kind="encoder-only", positions="transformer-xl", **sizes)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return POSITIONS["transformer-xl"](config).double()


def wave(distance: int, d_model: int) -> list[float]:
    angles = [distance / 10_000 ** (2 * (c // 2) / d_model) for c in range(d_model)]
    return [math.cos(a) if c % 2 else math.sin(a) for c, a in enumerate(angles)]


@pytest.mark.parametrize(("n_query", "n_key"), [(5, 5), (2, 6), (1, 4)])
@pytest.mark.parametrize("layer", [0, 1])
@torch.no_grad()
def test_the_bias_is_the_papers_terms_b_c_d(n_query: int, n_key: int, layer: int):
    """Dai et al. 2019, 3.3: q W_R r, u k and v W_R r; keys after the query are at negative distances."""
    ours, generator = scheme(), torch.Generator().manual_seed(1)
    q, k = (torch.randn(2, 3, n, 4, generator=generator, dtype=torch.float64) for n in (n_query, n_key))
    bias = ours.bias(q, k, layer=layer, scale=0.3)
    assert bias.shape == (2, 3, n_query, n_key)
    for batch in range(2):
        for head in range(3):
            w = ours.r_proj[layer].weight[head * 4 : (head + 1) * 4]
            u, v = ours.u[head, 0], ours.v[head, 0]
            for i in range(n_query):
                for j in range(n_key):
                    r = torch.tensor(wave(i + n_key - n_query - j, 8), dtype=torch.float64)
                    wr = w @ r
                    terms = q[batch, head, i] @ wr + u @ k[batch, head, j] + v @ wr
                    assert bias[batch, head, i, j].item() == pytest.approx(0.3 * terms.item(), abs=1e-12)


def test_u_and_v_serve_all_layers_and_each_layer_has_its_w_r():
    names = {name: list(p.shape) for name, p in scheme().named_parameters()}
    assert names == {
        "u": [3, 1, 4],
        "v": [3, 1, 4],
        "r_proj.0.weight": [12, 8],
        "r_proj.1.weight": [12, 8],
    }


def test_u_and_v_start_as_in_the_papers_code():
    ours = scheme(n_heads=64, d_head=64)
    for parameter in (ours.u, ours.v):
        assert parameter.std().item() == pytest.approx(0.02, rel=0.05)
        assert parameter.mean().item() == pytest.approx(0, abs=0.002)
