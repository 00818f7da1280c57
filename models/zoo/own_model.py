"""Wraps tensors alone as a model: a person's own attention, under the addresses of a trace."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..data.tasks.batch import Reading
from ..engine.address import Address
from ..engine.trace import Trace
from .model import Attention, Model
from .own_attention import LOGITS, KeptAttention, OwnAttention, read_file, read_kept

ORDER = ("q", "k", "v", "scores", "pattern", "z", LOGITS)
"""Callers hand these in, and they are computed as they are."""


class OwnModel(Model):
    """It reads nothing: its trace is what was handed in, whatever the text.

    Between the tokens of one sequence it is "encoder.self", or "decoder.self" where no query looks ahead; of
    queries and other keys, "decoder.cross".
    """

    pooled = None

    def __init__(
        self, name: str, own: KeptAttention, addresses: Collection[str], tensor: Callable[[str], Any]
    ) -> None:
        self.name, self.note = name, own.note
        self._own, self._tensor, self._held = own, tensor, addresses

    @property
    def max_len(self) -> int:
        return max(map(len, self._own.tokens.values()))

    def stacks(self, sides: Sequence[str]) -> tuple[str, ...]:
        return tuple(self._own.stacks)

    def attention(self, stack: str) -> Attention:
        fields = self._own.stacks.get(stack)
        if fields is None:
            raise ValueError(f"{self.name!r} has no attention {stack!r}; choose one that was recorded")
        return Attention(**fields | {"scales": tuple(fields["scales"])})

    def operations(self, lengths: Sequence[int]) -> int:
        """None but those of looking at each weight."""
        cells = (fields["n_layers"] * fields["n_heads"] for fields in self._own.stacks.values())
        return sum(cells) * max(lengths) * lengths[0]

    def read(self, text: str = "", **settings: Any) -> Reading:
        return Reading((), dict(self._own.tokens), "")

    def compute(self, reading: Reading, trace: Trace) -> None:
        if trace.edits:
            raise ValueError("an edit must change something; write one, or leave it out")
        for address in sorted(self._held, key=self._place):
            trace.record(address, self._tensor(address)[None])

    def _place(self, address: str) -> tuple[int, int, int]:
        where, stacks = Address.parse(address), list(self._own.stacks)
        return (
            stacks.index(where.family) if where.stack else len(stacks),
            where.layer,
            ORDER.index(where.name),
        )

    def addresses(self) -> Collection[str]:
        """None that could be edited."""
        return ()

    def code(self, text: str, **settings: Any) -> str:
        return (
            f"from attention_lab.models import read_attention\ntrace = read_attention({self.name!r}).trace()"
        )


def of_kept(own: KeptAttention, addresses: Collection[str], find: Callable[[], Path]) -> OwnModel:
    """The model of a file that was handed in and kept; each tensor is read when it is asked for.

    find: where the file is by then, since several visitors may have handed in the same.
    """
    return OwnModel(own.title, own, addresses, lambda address: read_kept(find(), address))


def read_attention(path: str | Path) -> OwnModel:
    """The model of an .npz, .safetensors or .json file of attention. Raises FileError (a ValueError)."""
    return of_arrays(read_file(path), str(path))


def of_arrays(own: OwnAttention, name: str) -> OwnModel:
    """The model of attention in memory."""
    tensors: dict[str, Tensor] = {address: torch.from_numpy(array) for address, array in own.tensors.items()}
    return OwnModel(name, own, tensors, tensors.__getitem__)
