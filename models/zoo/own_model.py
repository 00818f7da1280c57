"""A model of patterns alone: the attention that a person handed in, under the addresses of a trace."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..data.tasks.batch import Reading
from ..engine.trace import Trace
from .model import Attention, Model
from .own_attention import KeptAttention, OwnAttention, read_file, read_layer


class OwnModel(Model):
    """It reads nothing: its trace is the weights that were handed in, whatever the text.

    Between the tokens of one sequence they are "encoder.self"; of queries and other keys, "decoder.cross".
    """

    pooled = None

    def __init__(
        self,
        name: str,
        own: OwnAttention | KeptAttention,
        n_layers: int,
        n_heads: int,
        layer: Callable[[int], Any],
    ) -> None:
        self.name, self.note = name, own.note
        self._layer = layer
        self._tokens = (
            {"encoder": own.queries} if own.keys is None else {"encoder": own.keys, "decoder": own.queries}
        )
        self._stack = "encoder.self" if own.keys is None else "decoder.cross"
        self._attention = Attention(
            n_layers=n_layers, n_heads=n_heads, d_head=0, n_key_heads=n_heads, scales=(), whole=False
        )

    @property
    def max_len(self) -> int:
        return max(map(len, self._tokens.values()))

    def stacks(self, sides: Sequence[str]) -> tuple[str, ...]:
        return (self._stack,)

    def attention(self, stack: str) -> Attention:
        return self._attention

    def operations(self, lengths: Sequence[int]) -> int:
        """None but those of looking at each weight."""
        return self._attention.n_layers * self._attention.n_heads * lengths[0] * lengths[-1]

    def read(self, text: str = "", **settings: Any) -> Reading:
        return Reading((), dict(self._tokens), "")

    def compute(self, reading: Reading, trace: Trace) -> None:
        if trace.edits:
            raise ValueError("an edit changes what a model computes, and here is none; leave it out")
        side, kind = self._stack.split(".")
        for at in range(self._attention.n_layers):
            trace.record(f"{side}.{at}.{kind}.pattern", self._layer(at)[None])

    def addresses(self) -> Collection[str]:
        """None that could be edited."""
        return ()

    def code(self, text: str, **settings: Any) -> str:
        return (
            f"from attention_lab.models import read_attention\ntrace = read_attention({self.name!r}).trace()"
        )


def of_kept(own: KeptAttention, find: Callable[[], Path]) -> OwnModel:
    """The model of a file that was handed in and kept; each layer is read when it is asked for.

    find: where the file is by then, since several visitors may have handed in the same.
    """
    return OwnModel(own.title, own, own.n_layers, own.n_heads, lambda at: read_layer(find(), at))


def read_attention(path: str | Path) -> OwnModel:
    """The model of an .npz, .safetensors or .json file of attention. Raises FileError (a ValueError)."""
    own = read_file(path)
    layers: list[Tensor] = [torch.from_numpy(layer) for layer in own.weights]
    return OwnModel(str(path), own, len(layers), len(layers[0]), layers.__getitem__)
