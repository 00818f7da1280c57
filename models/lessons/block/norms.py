"""Layer norm and batch norm on the same tensor: the same formula, averaged over other axes.

Layer norm averages over the channels of one token (Ba et al. 2016, Layer Normalization, equation 3). Batch
norm averages each channel over all tokens of all sentences (Ioffe and Szegedy 2015, Batch Normalization,
algorithm 1), and takes running averages from training at evaluation (algorithm 2). Gains are 1 and biases 0,
as before training.
"""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

EPS = 1e-5
MOMENTUM = 0.1
N_CHANNELS = 6
Sentences = Float[Tensor, "*frame sentence token channel"]
Axis = Literal["layer", "batch"]


class Running(NamedTuple):
    """What batch norm remembers of the batches it was trained on, for each channel."""

    mean: Float[Tensor, "channel"]
    variance: Float[Tensor, "channel"]


def normalise(x: Sentences, axis: Axis) -> Sentences:
    """(x - mean) / sqrt(variance + eps), both over channels, or over sentences and tokens."""
    over = (-1,) if axis == "layer" else (-3, -2)
    mean = x.mean(over, keepdim=True)
    variance = x.var(over, correction=0, keepdim=True)
    return (x - mean) / (variance + EPS).sqrt()


def with_running(x: Sentences, running: Running) -> Sentences:
    """Batch norm at evaluation: statistics come from training, none from x."""
    return (x - running.mean) / (running.variance + EPS).sqrt()


def trained_on(batches: Float[Tensor, "batch sentence token channel"]) -> Running:
    """Running averages after these batches, each counting a tenth; they begin at 0 and 1.

    The variance that is remembered is the unbiased one, as in algorithm 2. Raises ValueError for batches of
    one token, whose variance is not defined.
    """
    n = batches.shape[1] * batches.shape[2]
    if n < 2:
        raise ValueError("batches of 1 token have no unbiased variance; give at least 2 tokens")
    mean, variance = torch.zeros(batches.shape[-1]), torch.ones(batches.shape[-1])
    for batch in batches:
        mean = (1 - MOMENTUM) * mean + MOMENTUM * batch.mean((0, 1))
        variance = (1 - MOMENTUM) * variance + MOMENTUM * batch.var((0, 1), correction=1)
    return Running(mean, variance)


def sentences(n_sentences: int, n_tokens: int, seed: int, *, first: int = 0) -> Sentences:
    """Random vectors, each channel with a mean and a spread of its own, as on a residual stream.

    Sentence i is the same however many there are, and token t however many it has.
    """
    numbers = range(first, first + n_sentences)
    drawn = [_drawn(seed + 1_000 * (number + 1))[:n_tokens] for number in numbers]
    return torch.stack(drawn) * spread(seed) + centre(seed)


def batches(n: int, seed: int) -> Float[Tensor, "{n} sentence token channel"]:
    """What batch norm was trained on: n batches of 3 sentences with 3 tokens, none of them on the page."""
    return torch.stack([sentences(3, 3, seed, first=100 + 3 * batch) for batch in range(n)])


def companions_moved(x: Sentences, shift: Float[Tensor, "frame"]) -> Float[Tensor, "frame ..."]:
    """The batch, [frame, sentence, token, channel]; every sentence but the first is moved in all channels."""
    others = torch.ones(x.shape[0], 1, 1)
    others[0] = 0
    return x + shift[:, None, None, None] * others


def averaged(shape: tuple[int, int, int], axis: Axis, token: int, channel: int) -> Bool[Tensor, "..."]:
    """[sentence, token, channel]: True for what is averaged to normalise one number of the first sentence."""
    mask = torch.zeros(shape, dtype=torch.bool)
    if axis == "layer":
        mask[0, token] = True
    else:
        mask[:, :, channel] = True
    return mask


def largest_change(results: Sentences) -> Float[Tensor, "frame"]:
    """How far the first sentence's result is from that of the first frame: the largest difference."""
    return (results - results[:1])[:, 0].abs().amax(dim=(-2, -1))


def centre(seed: int) -> Float[Tensor, "channel"]:
    return torch.randn(N_CHANNELS, generator=torch.Generator().manual_seed(seed)) * 1.5


def spread(seed: int) -> Float[Tensor, "channel"]:
    return 0.5 + 1.5 * torch.rand(N_CHANNELS, generator=torch.Generator().manual_seed(seed + 500))


def _drawn(seed: int) -> Float[Tensor, "token channel"]:
    return torch.randn(8, N_CHANNELS, generator=torch.Generator().manual_seed(seed))
