"""Why attention divides by sqrt(d_k): dot products of random vectors grow with d_k, and softmax saturates.

Vaswani et al. 2017, 3.2.1 and footnote 4: if the components of q and k are independent with mean 0 and
variance 1, then q . k = sum of q_i k_i has mean 0 and variance d_k.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.lessons.softmax.weights import Softmax, softmax

MAX_D_K = 1_024
D_KS = sorted({round(2 ** (i / 4)) for i in range(41)})
"""Four an octave, from 1 to 1,024, every power of two among them."""
N_PAIRS = 512
N_QUERIES = 32
MAX_KEYS = 128
QUANTILE = 1.959964
"""95% of the standard normal distribution lie within plus or minus this number."""


@dataclass(frozen=True)
class Vectors:
    """Random queries and keys, each component standard normal."""

    q: Float[Tensor, "pair channel"]
    k: Float[Tensor, "pair channel"]


@dataclass(frozen=True)
class Sampled:
    """Mean and variance of independent dot products for each d_k, and what theory leaves to chance.

    The theory says 0 and d_k; 95% of all samples are within `mean_band`, `variance_band` of it. Each band
    holds for one d_k: a larger d_k sees the same channels and more, so neighbours miss their bands together.
    """

    dots: Float[Tensor, "d_k pair"]
    mean: Float[Tensor, " d_k"]
    variance: Float[Tensor, " d_k"]
    mean_band: Float[Tensor, " d_k"]
    variance_band: Float[Tensor, " d_k"]


def draw(*, seed: int) -> Vectors:
    """512 queries and keys of 1,024 channels; the first d_k channels serve as vectors of size d_k."""
    generator = torch.Generator().manual_seed(seed)
    return Vectors(*torch.randn(2, N_PAIRS, MAX_D_K, generator=generator))


def sample(vectors: Vectors, d_ks: list[int] = D_KS) -> Sampled:
    """q . k of each pair for each d_k, with their mean and variance."""
    sums = (vectors.q * vectors.k).cumsum(dim=-1)  # [pair, channel]
    dots = sums[:, [d_k - 1 for d_k in d_ks]].T.double()  # [d_k, pair]
    sizes = torch.tensor(d_ks, dtype=torch.float64)
    return Sampled(dots, dots.mean(dim=-1), dots.var(dim=-1), *bands(sizes, n=dots.shape[-1]))


def bands(d_k: Float[Tensor, " d_k"], *, n: int) -> tuple[Float[Tensor, " d_k"], Float[Tensor, " d_k"]]:
    """Half the width of the 95% bands of mean and variance of n independent q . k, by the normal limit.

    Var(mean) = d_k / n. Var(variance) = 2 d_k^2 / (n - 1) + kappa_4 / n (Mood, Graybill & Boes 1974, VI.2,
    theorem 2). The fourth cumulant of q . k is kappa_4 = 6 d_k: each product q_i k_i has fourth moment
    3 * 3 and variance 1, so 9 - 3 = 6, and cumulants of independent terms add.
    """
    mean = (d_k / n).sqrt()
    variance = (2 * d_k**2 / (n - 1) + 6 * d_k / n).sqrt()
    return QUANTILE * mean, QUANTILE * variance


def attend(vectors: Vectors, n_keys: int, *, power: float, d_ks: list[int] = D_KS) -> Softmax:
    """Attention of 32 queries to n_keys keys, softmax(q . k / d_k ** power), [d_k, query, key].

    Power 0 is no scale, 1 / 2 the paper's (equation 1). Raises ValueError unless 2 <= n_keys <= 128.
    """
    if not 2 <= n_keys <= MAX_KEYS:
        raise ValueError(f"n_keys={n_keys} is outside 2 <= n_keys <= {MAX_KEYS}; try n_keys=64")
    q, k = vectors.q[:N_QUERIES], vectors.k[:n_keys]
    dots = torch.stack([q[:, :d_k] @ k[:, :d_k].T for d_k in d_ks])  # [d_k, query, key]
    return softmax(dots / torch.tensor(d_ks)[:, None, None] ** power)


def quartiles(numbers: Float[Tensor, "d_k query"]) -> Float[Tensor, "3 d_k"]:
    """The numbers that a quarter, half and three quarters of the queries stay below."""
    return numbers.quantile(torch.tensor([0.25, 0.5, 0.75]), dim=-1)
