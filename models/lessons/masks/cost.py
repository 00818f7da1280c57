"""What a mask spares: the pairs of query and key that are left to compute."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from models.engine import masks


class ByLength(NamedTuple):
    """Pairs kept in texts of n tokens; window, strided and fixed with width or stride round(sqrt(n))."""

    n: Int[Tensor, " size"]
    full: Int[Tensor, " size"]
    causal: Int[Tensor, " size"]
    window: Int[Tensor, " size"]
    strided: Int[Tensor, " size"]
    fixed: Int[Tensor, " size"]
    n_sqrt_n: Float[Tensor, " size"]


class ByStride(NamedTuple):
    """The two sparse masks of one text with stride 1, 2, ... and how many pairs each keeps."""

    strided: Bool[Tensor, "stride query key"]
    fixed: Bool[Tensor, "stride query key"]
    strided_kept: Int[Tensor, " stride"]
    fixed_kept: Int[Tensor, " stride"]


def kept(allowed: Tensor) -> int:
    """How many pairs of query and key a mask leaves."""
    return int(allowed.sum())


def by_length(sizes: Int[Tensor, " size"]) -> ByLength:
    """Pairs kept, counted in the masks themselves; Child et al. 2019, 4.3, take a stride close to sqrt(n)."""
    full, causal, window, strided, fixed = torch.tensor([_counts(n) for n in sizes.tolist()]).T
    return ByLength(sizes, full, causal, window, strided, fixed, sizes * sizes.double().sqrt())


def _counts(n: int) -> list[int]:
    root = round(math.sqrt(n))
    sparse = (masks.sliding_window(n, root), masks.strided(n, root), masks.fixed(n, root))
    return [n * n, kept(masks.causal(n, n)), *map(kept, sparse)]


def by_stride(n: int, most: int) -> ByStride:
    """Strided and fixed attention over n tokens with strides 1 to `most`."""
    strided = torch.cat([masks.strided(n, stride)[0] for stride in range(1, most + 1)])
    fixed = torch.cat([masks.fixed(n, stride)[0] for stride in range(1, most + 1)])
    return ByStride(strided, fixed, strided.sum(dim=(1, 2)), fixed.sum(dim=(1, 2)))
