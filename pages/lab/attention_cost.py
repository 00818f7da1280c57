"""What heads cost: parameters, floating-point operations, milliseconds.

Narrow heads share the width: d_head = d_model / n_heads (Vaswani et al. 2017, 3.2.2). Wide heads have all of
it: d_head = d_model (both in Bloem 2019, Transformers from scratch). Counts are without biases.
"""

import time
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention_lab.models.config import ModelConfig
from attention_lab.models.engine.attention import MultiHeadAttention

FEWEST_RUNS = 3


class Cost(NamedTuple):
    """One layer of attention over n_tokens tokens."""

    n_heads: int
    d_model: int
    d_head: int
    n_tokens: int
    parameters: int
    flops: int
    pattern_entries: int


def cost(n_heads: int, d_model: int, d_head: int, n_tokens: int) -> Cost:
    """Counted by formula, without biases."""
    weights, operations = parameters(n_heads, d_model, d_head), flops(n_heads, d_model, d_head, n_tokens)
    return Cost(n_heads, d_model, d_head, n_tokens, weights, operations, n_heads * n_tokens**2)


def narrow(n_heads: int, d_model: int, n_tokens: int) -> Cost:
    """d_head = d_model / n_heads: 3 k^2 + k^2 parameters with k = d_model.

    Raises ValueError where n_heads does not divide d_model.
    """
    return cost(n_heads, d_model, _config(n_heads, d_model, None).head_size, n_tokens)


def wide(n_heads: int, d_model: int, n_tokens: int) -> Cost:
    """d_head = d_model: 3 h k^2 + h k^2 parameters with h heads, k = d_model."""
    return cost(n_heads, d_model, d_model, n_tokens)


def parameters(n_heads: int, d_model: int, d_head: int) -> int:
    """W_Q, W_K and W_V are [d_model, n_heads * d_head]; W_O is [n_heads * d_head, d_model]."""
    width = n_heads * d_head
    return 3 * d_model * width + width * d_model


def flops(n_heads: int, d_model: int, d_head: int, n_tokens: int) -> int:
    """Operations of the matrix products alone; a multiplication and an addition count as two.

    [a, b] @ [b, c] takes 2 a b c: a b multiplications and additions for each of c columns. Softmax, scale
    and biases are left out, as PyTorch's FlopCounterMode does.
    """
    width = n_heads * d_head
    projections = 3 * 2 * n_tokens * d_model * width  # x @ W_Q, x @ W_K, x @ W_V
    scores = n_heads * 2 * n_tokens * d_head * n_tokens  # q @ k.T in every head
    mixing = n_heads * 2 * n_tokens * n_tokens * d_head  # pattern @ v in every head
    output = 2 * n_tokens * width * d_model  # concatenated z @ W_O
    return projections + scores + mixing + output


def random_layer(
    n_heads: int, d_model: int, d_head: int | None = None, *, seed: int = 0
) -> MultiHeadAttention:
    """The engine's attention of these sizes without biases; normal weights of variance 1 / d_model."""
    generator = torch.Generator().manual_seed(seed)
    with torch.device("meta"):  # draws nothing, and leaves global randomness alone
        attention = MultiHeadAttention(_config(n_heads, d_model, d_head))
    attention.to_empty(device="cpu")
    with torch.no_grad():
        for weight in attention.parameters():
            weight.normal_(0, d_model**-0.5, generator=generator)
    return attention.eval()


def count(module: nn.Module) -> int:
    """The number of parameters that a module really has."""
    return sum(p.numel() for p in module.parameters())


@torch.no_grad()
def milliseconds(
    layers: Sequence[nn.Module],
    x: Float[Tensor, "position d_model"],
    *,
    seconds: float = 0.1,
    most_runs: int = 50,
) -> list[float]:
    """Median time of each layer's fast forward pass on x, here and now; all together take about `seconds`.

    The layers take turns, so that whatever else the machine does strikes all alike. A first run is not
    counted; at least three are.
    """
    durations: list[list[float]] = [[] for _ in layers]
    end = time.perf_counter() + seconds
    for run in range(most_runs + 1):
        for attention, times in zip(layers, durations, strict=True):
            start = time.perf_counter()
            attention(x[None], x[None])
            times.append((time.perf_counter() - start) * 1000)
        if run >= FEWEST_RUNS and time.perf_counter() > end:
            break
    return [median(times[1:]) for times in durations]


def measure(costs: Sequence[Cost], *, seconds: float = 0.1, seed: int = 0) -> list[float]:
    """`milliseconds` of layers of these sizes, on tokens of their number; all share d_model and n_tokens."""
    layers = [random_layer(c.n_heads, c.d_model, c.d_head, seed=seed) for c in costs]
    generator = torch.Generator().manual_seed(seed)
    return milliseconds(
        layers, torch.randn(costs[0].n_tokens, costs[0].d_model, generator=generator), seconds=seconds
    )


def _config(n_heads: int, d_model: int, d_head: int | None) -> ModelConfig:
    return ModelConfig(
        kind="encoder-only",
        n_layers=1,
        n_heads=n_heads,
        d_model=d_model,
        d_head=d_head,
        bias=False,
        vocab_size=1,
        max_len=1,
    )
