"""Transformer-XL's mask: a segment, and a memory of what came before it."""

import torch
from torch import Tensor

from ....mask_names import MaskName, numbers
from ..core import Square, at_least, register

ABOUT = MaskName(
    order=8,
    title="memory",
    rule="the lengths of segment and memory, with a dot between",
    example="4.4",
    meaning="segments of 4 tokens, each with the 4 tokens before it",
)


def memory(n: int, segment: int, memory: int) -> Square:
    """Segments of `segment` tokens: a query sees what came before it in its segment, and the `memory` tokens
    before the segment.

    Transformer-XL (Dai et al. 2019, 3.2), whose cached states of the last segment are what a mask over the
    whole text gives at once; memory 0 is the model that reads each segment alone. Raises ValueError for a
    segment below 1 and a negative memory.
    """
    position = torch.arange(n)
    return _seen(position[:, None], position, segment, memory)[None, None]


def _seen(query: Tensor, key: Tensor, segment: int, memory: int) -> Tensor:
    at_least("segment", segment, 1)
    at_least("memory", memory, 0)
    return (key <= query) & (key >= query // segment * segment - memory)


register(
    "memory",
    lambda n, a: memory(n, *numbers("memory", a, 2)),
    part=lambda query, key, n, a: _seen(query, key, *numbers("memory", a, 2)),
    code=memory,
)
