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

    def keep_last(self, n: int) -> None:
        """Forgets all positions but the last n, if it grows."""
        if self.grows and self.keys is not None and self.values is not None:
            first = max(self.keys.shape[2] - n, 0)
            self.keys, self.values = self.keys[:, :, first:], self.values[:, :, first:]

    def select(self, rows: Int[Tensor, " row"]) -> None:
        """Keeps these rows of the batch, in this order, repeats allowed."""
        if self.keys is not None and self.values is not None:
            self.keys, self.values = self.keys[rows], self.values[rows]


class DecoderCache:
    """What a decoder remembers of what it has read: the token ids, and each layer's keys and values."""

    def __init__(self, n_layers: int) -> None:
        self.tokens: Tensor | None = None
        self._n_forgotten = 0
        self.layers = [(KeyValueCache(grows=True), KeyValueCache(grows=False)) for _ in range(n_layers)]

    @property
    def length(self) -> int:
        """Number of positions read, forgotten ones too."""
        return self._n_forgotten + (0 if self.tokens is None else self.tokens.shape[1])

    def read(self, tokens: Int[Tensor, "batch new"]) -> Int[Tensor, "batch key"]:
        """Notes new tokens; returns all that are remembered."""
        self.tokens = tokens if self.tokens is None else torch.cat([self.tokens, tokens], dim=1)
        return self.tokens

    def keep_last(self, n: int) -> None:
        """Forgets all positions but the last n, which keep their places: Transformer-XL's memory.

        A text read segment by segment, with `keep_last(n)` after each, is seen as by one pass in which each
        query sees its own segment, as far as itself, and the n positions before the segment (Dai et al. 2019,
        3.2, where no gradient flows into the memory). Raises ValueError for n < 0.
        """
        if n < 0:
            raise ValueError(f"n={n} positions cannot be kept; give 0, to forget all, or more")
        if self.tokens is None:
            return
        first = max(self.tokens.shape[1] - n, 0)
        self.tokens, self._n_forgotten = self.tokens[:, first:], self._n_forgotten + first
        for layer in self.layers:
            for attention in layer:
                attention.keep_last(n)

    def select(self, rows: Int[Tensor, " row"]) -> None:
        """Keeps these rows of the batch, in this order, repeats allowed (beams that live on)."""
        if self.tokens is not None:
            self.tokens = self.tokens[rows]
        for layer in self.layers:
            for attention in layer:
                attention.select(rows)
