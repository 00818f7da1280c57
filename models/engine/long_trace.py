"""A pass over a long text, of which q and k are kept and nothing else."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from models.config import ModelConfig
from models.engine import masks
from models.engine.long_text import LongHeads
from models.engine.trace import Trace


class LongTrace(Trace):
    """A pass over a long text: of each attention it keeps q and k, under an address like "decoder.0.self".

    wanted: whether those of an address are kept. told: hears after each attention how many there were.
    """

    def __init__(
        self,
        wanted: Callable[[str], bool] = lambda address: True,
        told: Callable[[int], None] = lambda n: None,
    ) -> None:
        super().__init__()
        self.heads: dict[str, LongHeads] = {}
        self.n_attended = 0
        self._wanted, self._told = wanted, told

    def record(self, address: str, tensor: Tensor) -> Tensor:
        """Keeps nothing of what a short text's trace would hold."""
        return tensor

    def attend(self, address: str, heads: LongHeads, v: Tensor) -> Tensor:
        """z of an attention, whose q and k are kept if they are wanted."""
        z = heads.attend(v, lambda share: self._told(self.n_attended))
        if self._wanted(address):
            self.heads[address] = heads
        self.n_attended += 1
        self._told(self.n_attended)
        return z


def mask_in_parts(config: ModelConfig, n: int, *given: Tensor | None) -> masks.Allowed | None:
    """A model's own mask over n tokens and those that were given, [1, _, query or 1, key], in parts."""
    own = None if config.mask == "none" else masks.in_parts(config.mask, config.mask_argument, n)
    return masks.both(own, *(masks.of_tensor(mask[0]) for mask in given if mask is not None))
