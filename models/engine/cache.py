"""Keys and values that decoding need not compute twice."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

Heads = Float[Tensor, "batch head key d_head"]
NewHeads = Float[Tensor, "batch head new d_head"]


class KeyValueCache:
    """One attention's keys and values: of self-attention they grow, of cross-attention they are made once."""

    def __init__(self, *, grows: bool) -> None:
        self.grows = grows
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def fixed(self) -> tuple[Heads, Heads] | None:
        """Keys and values that will not change any more, or None while there are none."""
        if self.grows or self.keys is None or self.values is None:
            return None
        return self.keys, self.values

    def extend(self, keys: NewHeads, values: NewHeads) -> tuple[Heads, Heads]:
        """Adds the newest positions; returns all of them."""
        if self.keys is not None and self.values is not None:
            keys = torch.cat([self.keys, keys], dim=2)  # [batch, head, key, d_head]
            values = torch.cat([self.values, values], dim=2)
        self.keys, self.values = keys, values
        return keys, values

    def select(self, rows: Int[Tensor, " row"]) -> None:
        """Keeps these rows of the batch, in this order, repeats allowed."""
        if self.keys is not None and self.values is not None:
            self.keys, self.values = self.keys[rows], self.values[rows]


class DecoderCache:
    """What a decoder has read so far: the token ids, and each layer's keys and values."""

    def __init__(self, n_layers: int) -> None:
        self.tokens: Tensor | None = None
        self.layers = [(KeyValueCache(grows=True), KeyValueCache(grows=False)) for _ in range(n_layers)]

    @property
    def length(self) -> int:
        """Number of positions read."""
        return 0 if self.tokens is None else self.tokens.shape[1]

    def read(self, tokens: Int[Tensor, "batch new"]) -> Int[Tensor, "batch key"]:
        """Notes new tokens; returns all that were read."""
        self.tokens = tokens if self.tokens is None else torch.cat([self.tokens, tokens], dim=1)
        return self.tokens

    def select(self, rows: Int[Tensor, " row"]) -> None:
        """Keeps these rows of the batch, in this order, repeats allowed (beams that live on)."""
        if self.tokens is not None:
            self.tokens = self.tokens[rows]
        for layer in self.layers:
            for attention in layer:
                attention.select(rows)
