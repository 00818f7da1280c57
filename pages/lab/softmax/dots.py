"""Why attention divides by sqrt(d_k): dot products of random vectors grow with d_k, and softmax saturates.

Vaswani et al. 2017, 3.2.1 and footnote 4: if the components of q and k are independent with mean 0 and
variance 1, then q . k = sum of q_i k_i has mean 0 and variance d_k.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_lab.models.percent import percent
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.pages.lab.softmax.inputs import (
    AS_IT_IS,
    SCALED,
    Inputs,
    Softmax,
    gradient_norm,
    histogram,
    softmax,
)
from attention_lab.viz_core.boards import Bars, Colour, Curves, Fact, Facts, Line, Panel, Scrub
from attention_lab.viz_core.labels import short

MAX_D_K = 1_024
D_KS = sorted({round(2 ** (i / 4)) for i in range(41)})
"""Four an octave, from 1 to 1,024, every power of two among them."""
N_PAIRS = 512
N_QUERIES = 32
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

    Power 0 is no scale, 1 / 2 the paper's (equation 1).
    """
    q, k = vectors.q[:N_QUERIES], vectors.k[:n_keys]
    dots = torch.stack([q[:, :d_k] @ k[:, :d_k].T for d_k in d_ks])  # [d_k, query, key]
    return softmax(dots / torch.tensor(d_ks)[:, None, None] ** power)


def quartiles(numbers: Float[Tensor, "d_k query"]) -> Float[Tensor, "3 d_k"]:
    """The numbers that a quarter, half and three quarters of the queries stay below."""
    return numbers.quantile(torch.tensor([0.25, 0.5, 0.75]), dim=-1)


EDGES = np.arange(-98, 99, 4)
BINS = ["< −98", *(str(at).replace("-", "−") for at in range(-96, 97, 4)), "> 98"]


def lesson(inputs: Inputs) -> Lesson:
    vectors, d_ks = draw(seed=inputs.seed), np.array(D_KS)
    sampled = sample(vectors)
    plain, scaled = (attend(vectors, inputs.n_keys, power=power) for power in (0.0, 0.5))
    shares = histogram(sampled.dots, torch.from_numpy(EDGES).double()).numpy()
    band = sampled.variance_band.numpy()
    over_d_k: dict[str, Any] = {"x": d_ks, "at": d_ks, "x_label": "d_k", "log_x": True}
    return Lesson(
        rows=[
            [_weights(plain, "without the scale", AS_IT_IS)],
            [_weights(scaled, "divided by √d_k", SCALED)],
            [
                Curves(
                    lines=_both(plain.gradient, scaled.gradient), title="gradient that gets through",
                    y_label="norm of the Jacobian", log_y=True, y_range=(1e-6, 1), **over_d_k,
                ),
                Curves(
                    lines=_both(plain.entropy, scaled.entropy), title="entropy of the weights",
                    y_label="nats", y_range=(0, 1.05 * math.log(inputs.n_keys)), **over_d_k,
                ),
            ],
            [
                Bars(
                    values=shares, labels=BINS, title="512 dot products q · k", x_label="q · k",
                    y_label="share", colour=AS_IT_IS,
                ),
                Curves(
                    lines=[
                        Line(d_ks, "theory: d_k, and where 95% of samples fall", "muted", dashed=True,
                             low=d_ks - band, high=d_ks + band),
                        Line(sampled.variance.numpy(), "measured", AS_IT_IS),
                    ],
                    title="variance of q · k", y_label="variance", log_y=True, **over_d_k,
                ),
            ],
            [
                Facts.of(
                    Fact("mean of 512 q · k", sampled.mean.numpy(), colour=AS_IT_IS),
                    Fact("its band: 0 ±", sampled.mean_band.numpy()),
                    Fact("their variance", sampled.variance.numpy(), 1, colour=AS_IT_IS),
                    Fact("its band: d_k ±", band, 1),
                    title="In theory the mean is 0, the variance d_k; 95 of 100 samples lie in these bands",
                )
            ],
        ],
        notice=[_notice(plain, scaled, d_k, at) for at, d_k in enumerate(D_KS)],
        scrub=Scrub("d_k", "d_k", d_ks, list(map(_channels, D_KS))),
        sizes=rf"{inputs.n_keys} \text{{ keys}},\; \ln {inputs.n_keys} = {math.log(inputs.n_keys):.3f}",
        axes={
            "pair": N_PAIRS, "channel": MAX_D_K, "d_k": len(D_KS), "query": N_QUERIES, "key": inputs.n_keys,
        },
        code=(draw, sample, bands, attend, softmax, gradient_norm),
    )  # fmt: skip


def _weights(result: Softmax, name: str, colour: Colour) -> Panel:
    shares = result.weights[:, 0].numpy()  # of the first query, [d_k, key]
    return Bars(
        values=shares, labels=[str(at + 1) for at in range(shares.shape[-1])], title=f"one query, {name}",
        x_label="key", y_label="weight", colour=colour, reach=1, axis="key",
    )  # fmt: skip


def _both(plain: Tensor, scaled: Tensor) -> list[Line]:
    """The medians of queries, in bands of their quartiles."""
    ways: tuple[tuple[Tensor, str, Colour], ...] = (
        (plain, "without the scale", AS_IT_IS), (scaled, "divided by √d_k", SCALED)
    )  # fmt: skip
    lines = []
    for numbers, name, colour in ways:
        low, median, high = quartiles(numbers).numpy()
        lines.append(Line(median, name, colour, low=low, high=high))
    return lines


def _notice(plain: Softmax, scaled: Softmax, d_k: int, at: int) -> str:
    one, other = plain.largest[at].mean().item(), scaled.largest[at].mean().item()
    through, scaled_gradient = plain.gradient[at].median().item(), scaled.gradient[at].median().item()
    return (
        f"With **{_channels(d_k)}**, one key takes **{percent(one)}** of the weight; gradient: "
        f"**{short(through)}**. Divided by √{d_k:,}: **{percent(other)}**, **{short(scaled_gradient)}**."
    )


def _channels(d_k: int) -> str:
    return f"{d_k:,} channel{'s' * (d_k != 1)}"


def questions() -> tuple[Answer, ...]:
    vectors = draw(seed=0)
    d_ks = [16, 64, 1_024]
    variance = sample(vectors, d_ks).variance
    wider = (variance[1] / variance[0]).sqrt().item()
    plain, scaled, divided = (attend(vectors, 64, power=power, d_ks=d_ks) for power in (0.0, 0.5, 1.0))
    lost, scaled_gradient = plain.gradient[-1].median().item(), scaled.gradient[-1].median().item()
    entropy = divided.entropy[-1].mean().item()
    ratios = np.array([1, 1 / 3, 1 / 1_000])
    return (
        Answer.of(int(np.argmin(abs(np.array([2, 4, 48]) - wider))), variance=variance, wider=wider),
        Answer.of(
            int(np.argmin(abs(np.log(ratios * scaled_gradient / lost)))), lost=lost, kept=scaled_gradient
        ),
        Answer.of(
            1 if entropy > 0.99 * math.log(64) else 2,
            entropy=entropy,
            most=math.log(64),
            scaled_entropy=scaled.entropy[-1].mean(),
        ),
    )


PART = part(__name__, ("n_keys", "seed"), lesson, questions, scrub="d_k")
