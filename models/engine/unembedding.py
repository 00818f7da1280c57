"""The unembedding: a norm and a matrix make logits of the stream that leaves a model's last layer."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Unembedding:
    """A last norm, which may take the mean out, with its gain (None: no norm); and the output layer after it.

    constant: what is added to the logits of any stream: of the norm's bias, and of the output layer's.
    """

    centred: bool
    gain: Float[Tensor, " channel"] | None
    words: Float[Tensor, "channel output"]
    constant: Float[Tensor, " output"]
    eps: float = 0.0

    def normed(self, x: Float[Tensor, "*rows channel"]) -> Float[Tensor, "*rows channel"]:
        """Maps such vectors to what `words` reads, but for the division by `scale`."""
        x = x - x.mean(dim=-1, keepdim=True) if self.centred else x
        return x if self.gain is None else x * self.gain

    def scale(self, final: Float[Tensor, "*rows channel"]) -> Float[Tensor, "*rows 1"]:
        """The number by which the norm divides the last stream."""
        square = (final.var(dim=-1, correction=0) if self.centred else final.square().mean(dim=-1))[..., None]
        return torch.ones_like(square) if self.gain is None else (square + self.eps).sqrt()

    def logits(self, parts: Float[Tensor, "*rows channel"], final: Tensor) -> Float[Tensor, "*rows output"]:
        """Logits that parts of the last stream add, all rows in one product, with the norm's scale
        frozen at that of `final`: a stream for all, or one for each row. `constant` is not added.
        """
        return (self.normed(parts) / self.scale(final)) @ self.words
