"""A pass over a long text, of which q and k are kept and nothing else."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

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
