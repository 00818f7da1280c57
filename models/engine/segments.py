"""A text read segment by segment, as Transformer-XL reads it (Dai et al. 2019, 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor

if TYPE_CHECKING:
    from models.engine.transformer import Transformer

Stream = Float[Tensor, "batch position d_model"]


class SegmentMemory:
    """What a decoder keeps of the segments before: each layer's inputs, at the last `length` positions.

    They are kept without their past: no gradient flows into them (the paper's SG). Keys and values are
    computed from them again with each segment, so that the maps that make keys and values learn from them.
    Raises ValueError for a negative length.
    """

    def __init__(self, n_layers: int, length: int) -> None:
        if length < 0:
            raise ValueError(f"length={length} positions cannot be kept; give 0, for none, or more")
        self.length = length
        self.n_read = 0
        self.tokens: Tensor | None = None
        self._layers: list[Tensor | None] = [None] * n_layers

    def read(self, tokens: Int[Tensor, "batch new"]) -> Int[Tensor, "batch key"]:
        """Notes a segment's tokens; returns all that its queries may see."""
        seen = tokens if self.tokens is None else torch.cat([self.tokens, tokens], dim=1)
        self.tokens, self.n_read = self._last(seen), self.n_read + tokens.shape[1]
        return seen

    def before(self, layer: int, x: Stream) -> Float[Tensor, "batch earlier d_model"] | None:
        """What the layer kept of the segments before x, its input; x is kept for the segment after."""
        kept = self._layers[layer]
        seen = x.detach() if kept is None else torch.cat([kept, x.detach()], dim=1)
        self._layers[layer] = self._last(seen)
        return None if kept is None or not kept.shape[1] else kept

    def _last(self, seen: Tensor) -> Tensor:
        return seen[:, max(seen.shape[1] - self.length, 0) :]


def in_segments(
    model: Transformer, tokens: Int[Tensor, "batch position"], segment: int, memory: int
) -> Float[Tensor, "batch position vocab"]:
    """Logits of a text in segments of `segment` tokens, each with the `memory` positions before it.

    The numbers are those of one pass under `masks.memory`; the gradients are the paper's. Raises ValueError
    for a segment below 1 and as `Transformer.read_segment` does.
    """
    if segment < 1:
        raise ValueError(f"segment={segment} tokens cannot be read; give 1 or more")
    past = SegmentMemory(model.config.n_layers, memory)
    parts = [model.read_segment(part, past) for part in tokens.split(segment, dim=1)]
    return torch.cat(parts, dim=1)
