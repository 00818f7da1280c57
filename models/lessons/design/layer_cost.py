"""What one layer costs: the terms of table 1 (Vaswani et al. 2017), real operations, and milliseconds."""

import time
from collections.abc import Callable, Sequence
from functools import lru_cache

import torch
from torch import Tensor, nn

from models.lessons.heads import cost

MOST_MS = 8.0  # a length that would take longer is not measured


def self_attention(n: int, d: int) -> int:
    """Every position is multiplied with every other, in d channels."""
    return n * n * d


def recurrent(n: int, d: int) -> int:
    """Each of n positions is multiplied with a [d, d] matrix."""
    return n * d * d


def convolution(n: int, d: int, k: int) -> int:
    """Each of n positions is multiplied with a [d, d] matrix for each of k places of the kernel."""
    return k * n * d * d


def restricted(n: int, d: int, r: int) -> int:
    """Every position is multiplied with r others, in d channels."""
    return r * n * d


def attention_flops(n: int, d: int) -> int:
    """4 n^2 d for scores and mixing, and what the table leaves out: 8 n d^2 for W_Q, W_K, W_V and W_O."""
    return cost.flops(1, d, d, n)


def recurrent_flops(n: int, d: int) -> int:
    """Two [d, d] matrices at each position, one for the word and one for the state."""
    return 2 * 2 * recurrent(n, d)


def convolution_flops(n: int, d: int, k: int) -> int:
    """k [d, d] matrices at each position; a multiplication and an addition count as two."""
    return 2 * convolution(n, d, k)


@lru_cache(maxsize=64)
def measure(name: str, lengths: tuple[int, ...], d: int, k: int = 1) -> list[float]:
    """Milliseconds of a layer over one text of each of these ascending lengths, here and now.

    `k` is the width of a kernel. The numbers are remembered, and NaN for lengths that would take too long.
    """
    growth = 4 if name == "self-attention" else 2  # the most that twice the length can cost
    return milliseconds(layer(name, d, k), [texts(name, n, d) for n in lengths], growth)


def layer(name: str, d: int, k: int = 1) -> Callable[[Tensor], object]:
    """A tanh recurrence, a convolution over time, or the engine's attention with one head; no biases."""
    if name == "self-attention":
        attention = cost.random_layer(1, d)
        return lambda x: attention(x, x)
    generator = torch.Generator().manual_seed(0)
    with torch.device("meta"):  # draws nothing, and leaves global randomness alone
        made = (
            nn.RNN(d, d, bias=False, batch_first=True)
            if name == "recurrent"
            else nn.Sequential(nn.ConstantPad1d((k - 1, 0), 0.0), nn.Conv1d(d, d, k, bias=False))
        )
    made.to_empty(device="cpu")
    with torch.no_grad():
        for weight in made.parameters():
            weight.normal_(0, d**-0.5, generator=generator)
    return made


def texts(name: str, n: int, d: int) -> Tensor:
    """Random numbers as the layer wants them: [1, n, d], or [1, d, n] for a convolution."""
    x = torch.randn(1, n, d, generator=torch.Generator().manual_seed(n))
    return x.transpose(1, 2).contiguous() if name == "convolution" else x


@torch.no_grad()
def milliseconds(run: Callable[[Tensor], object], each: Sequence[Tensor], growth: int) -> list[float]:
    """The fastest of two passes over each text, of five where they are short; NaN from MOST_MS on.

    growth: how many times as long the next text may take.
    """
    run(each[0])  # a first run prepares
    times: list[float] = []
    for text in each:
        if times and not growth * times[-1] < MOST_MS:
            times.append(float("nan"))
            continue
        first = _once(run, text)
        times.append(min(first, *(_once(run, text) for _ in range(1 if first > 1 else 4))))
    return times


def _once(run: Callable[[Tensor], object], text: Tensor) -> float:
    start = time.perf_counter()
    run(text)
    return (time.perf_counter() - start) * 1000
