"""Each step against code that shares nothing with it: plain loops, PyTorch's own attention, the engine."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import ModelConfig
from models.engine.attention import MultiHeadAttention
from models.lessons.attention import steps

MATRICES = ("W_Q", "W_K", "W_V", "W_O")


def random(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture(name="X")
def tokens() -> Tensor:
    return random(5, 4, seed=0)


@pytest.fixture(name="Q")
def queries() -> Tensor:
    return random(3, 4, seed=1)


@pytest.fixture(name="W")
def matrices() -> dict[str, Tensor]:
    return {name: random(4, 4, seed=seed) for seed, name in enumerate(MATRICES, start=2)}


def close(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)


def softmax(scores: list[float]) -> list[float]:
    exponentials = [math.exp(score) for score in scores]
    return [e / sum(exponentials) for e in exponentials]


def weighted_sum(weights: list[float], rows: list[list[float]]) -> list[float]:
    return [sum(w * row[c] for w, row in zip(weights, rows, strict=True)) for c in range(len(rows[0]))]


def test_parameter_free_equals_a_plain_loop(X: Tensor):
    rows = X.tolist()
    scores = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in rows] for x in rows]
    pattern = [softmax(row) for row in scores]
    result = steps.parameter_free(X)
    close(result["scores"], torch.tensor(scores, dtype=torch.float64))
    close(result["pattern"], torch.tensor(pattern, dtype=torch.float64))
    close(result["z"], torch.tensor([weighted_sum(p, rows) for p in pattern], dtype=torch.float64))


def test_additive_equals_a_plain_loop_over_the_papers_formula(X: Tensor, Q: Tensor):
    W_a, U_a, v_a = random(3, 4, seed=6), random(3, 4, seed=7), random(3, seed=8)
    scores = []
    for x in X.tolist():
        hidden = [
            math.tanh(sum(w * q for w, q in zip(W_row, Q[0].tolist(), strict=True))
                      + sum(u * c for u, c in zip(U_row, x, strict=True)))
            for W_row, U_row in zip(W_a.tolist(), U_a.tolist(), strict=True)
        ]  # fmt: skip
        scores.append(sum(v * h for v, h in zip(v_a.tolist(), hidden, strict=True)))
    result = steps.additive(Q[0], X, W_a, U_a, v_a)
    close(result["scores"], torch.tensor(scores, dtype=torch.float64))
    close(result["z"], torch.tensor(weighted_sum(softmax(scores), X.tolist()), dtype=torch.float64))


@pytest.mark.parametrize(("step", "scale"), [(steps.dot_product, 1.0), (steps.scaled_dot_product, 0.5)])
def test_one_query_equals_pytorchs_attention(step, scale: float, X: Tensor, Q: Tensor):
    expected = F.scaled_dot_product_attention(Q[None, :1], X[None], X[None], scale=scale)[0, 0]
    close(step(Q[0], X)["z"], expected)


def test_many_queries_equal_pytorchs_attention_and_each_query_alone(X: Tensor, Q: Tensor):
    z = steps.many_queries(Q, X)["z"]
    close(z, F.scaled_dot_product_attention(Q[None], X[None], X[None])[0])
    close(z, torch.stack([steps.scaled_dot_product(q, X)["z"] for q in Q]))


def test_cross_attention_equals_pytorchs_attention(X: Tensor, Q: Tensor, W: dict[str, Tensor]):
    z = steps.cross_attention(Q, X, W["W_K"], W["W_V"])["z"]
    close(z, F.scaled_dot_product_attention(Q[None], (X @ W["W_K"])[None], (X @ W["W_V"])[None])[0])


def engine_attention(W: dict[str, Tensor], n_heads: int) -> MultiHeadAttention:
    """The engine's layer with our matrices, which multiply from the right where nn.Linear's do so turned."""
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=n_heads, d_model=4, vocab_size=1, max_len=9, bias=False
    )
    layer = MultiHeadAttention(config).double()
    projections = (layer.q_proj, layer.k_proj, layer.v_proj, layer.out_proj)
    with torch.no_grad():
        for projection, name in zip(projections, MATRICES, strict=True):
            projection.weight.copy_(W[name].T)
    return layer


def torch_attention(W: dict[str, Tensor], n_heads: int) -> nn.MultiheadAttention:
    theirs = nn.MultiheadAttention(4, n_heads, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([W[name].T for name in MATRICES[:3]]))
        theirs.out_proj.weight.copy_(W["W_O"].T)
    return theirs


def test_self_attention_is_the_engines_and_pytorchs_with_one_head(X: Tensor, W: dict[str, Tensor]):
    W = W | {"W_O": torch.eye(4, dtype=torch.float64)}
    result = steps.self_attention(X, W["W_Q"], W["W_K"], W["W_V"])
    close(result["z"], engine_attention(W, 1)(X[None], X[None])[0])
    out, weights = torch_attention(W, 1)(X[None], X[None], X[None])
    close(result["z"], out[0])
    close(result["pattern"], weights[0])


@pytest.mark.parametrize("n_heads", [1, 2, 4])
def test_multi_head_is_the_engines_and_pytorchs(n_heads: int, X: Tensor, W: dict[str, Tensor]):
    result = steps.multi_head(X, **W, n_heads=n_heads)
    close(result["out"], engine_attention(W, n_heads)(X[None], X[None])[0])
    out, weights = torch_attention(W, n_heads)(X[None], X[None], X[None], average_attn_weights=False)
    close(result["out"], out[0])
    close(result["pattern"], weights[0])


def test_multi_head_with_one_head_is_self_attention_before_the_output_matrix(X: Tensor, W: dict[str, Tensor]):
    result = steps.multi_head(X, **W, n_heads=1)
    close(result["concat"], steps.self_attention(X, W["W_Q"], W["W_K"], W["W_V"])["z"])


def test_split_gives_each_head_its_own_channels():
    x = torch.arange(12.0).view(3, 4)  # [token, channel]
    heads = steps.split(x, 2)
    assert heads[0].tolist() == [[0, 1], [4, 5], [8, 9]]
    assert heads[1].tolist() == [[2, 3], [6, 7], [10, 11]]
