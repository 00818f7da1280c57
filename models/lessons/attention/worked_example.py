"""The worked example of the talks: 112 and 96, divided by 8, are 14 and 12; softmax makes 0.88 and 0.12."""

import torch
from jaxtyping import Float
from torch import Tensor

# Whole numbers from -3 to 3, 64 each, found by search so that q1 · k1 = 112, q1 · k2 = 96, q2 · k1 = 72 and
# q2 · k2 = 80.
_Q1 = (
    "3 -3 -2 -2 -3 3 3 2 0 -3 0 1 3 0 -2 -2 3 1 -3 -3 0 -3 3 0 -1 0 2 -3 -3 2 1 2 "
    "2 -3 0 1 0 1 2 -1 2 -1 -1 3 3 -3 -1 -1 -2 3 0 0 -2 3 -3 3 1 -3 -2 1 0 -1 -1 -3"
)
_Q2 = (
    "3 1 2 2 3 -1 3 0 0 1 1 3 0 3 0 -3 1 3 0 -3 -3 -1 -3 3 3 -2 2 2 -2 3 -2 -2 "
    "1 0 1 -2 3 -2 -2 -3 -1 3 1 1 0 3 0 -2 -1 1 1 -2 0 2 2 -2 2 -1 -3 0 -3 3 -3 -1"
)
_K1 = (
    "3 3 -3 -2 -2 2 3 2 2 0 3 3 3 3 -2 1 1 3 0 0 3 -3 0 2 -1 -2 0 -3 1 -2 0 1 "
    "2 -3 -2 -3 1 -1 1 0 2 1 2 2 -3 -2 0 0 2 3 3 -3 -3 3 0 -1 1 0 -3 1 0 3 -3 -1"
)
_K2 = (
    "1 -3 0 -2 -3 0 1 0 3 -1 3 1 3 3 0 -3 2 -1 1 -2 -3 -3 -3 1 2 -1 2 -2 -3 2 -3 -2 "
    "-2 -1 3 0 0 0 -2 -3 -1 0 -2 3 3 0 1 2 -3 2 -2 0 2 1 -2 1 2 2 0 -2 -1 0 3 -1"
)
QUERIES = tuple(tuple(float(number) for number in text.split()) for text in (_Q1, _Q2))
KEYS = tuple(tuple(float(number) for number in text.split()) for text in (_K1, _K2))


def keys_with(
    Q: Float[Tensor, "query d_k"], K: Float[Tensor, "key d_k"], dots: Float[Tensor, "query key"]
) -> Float[Tensor, "key d_k"]:
    """The keys nearest to `K` whose dot products with the queries are `dots`; needs independent queries."""
    missing = dots - Q @ K.mT  # [query, key]
    return K + missing.mT @ torch.linalg.pinv(Q).mT  # [key, d_k]


def products(q: Float[Tensor, "d_k"], K: Float[Tensor, "key d_k"]) -> Float[Tensor, "key d_k"]:
    """What each channel adds to the dot products of one query."""
    return q * K


def attend(
    Q: Float[Tensor, "query d_k"],
    K: Float[Tensor, "key d_k"],
    V: Float[Tensor, "key d_v"],
    divisors: Float[Tensor, "frame"],
) -> dict[str, Tensor]:
    """softmax(Q K^T / divisor) V, step by step; equation 1 of Vaswani et al. 2017 divides by sqrt(d_k).

    dots [query, key]; scores and pattern [frame, query, key] and z [frame, query, d_v], one for each divisor.
    """
    dots = Q @ K.mT  # [query, key]
    scores = dots / divisors[:, None, None]  # [frame, query, key]
    pattern = scores.softmax(dim=-1)  # [frame, query, key]
    z = pattern @ V  # [frame, query, d_v]
    return {"dots": dots, "scores": scores, "pattern": pattern, "z": z}
