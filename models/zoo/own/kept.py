"""Own attention as it is kept: one .safetensors, written by us alone, of which a layer at a time is read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from models.files import FileError, parsed
from models.zoo.own.arrays import OwnAttention

ENDING = "attention"
_SAID = "attention-lab"


@dataclass(frozen=True)
class Kept:
    """What a kept file says of its attention."""

    title: str
    n_layers: int
    n_heads: int
    queries: list[str]
    keys: list[str] | None
    note: str


GONE = "the tensors that were handed in are no longer here; hand them in again"


def to_keep(own: OwnAttention) -> bytes:
    """The file of this attention; the same attention gives the same bytes."""
    said = {"title": own.title, "queries": own.queries, "keys": own.keys, "note": own.note}
    layers = {f"layer.{at}": layer for at, layer in enumerate(own.weights)}
    return save(layers, metadata={_SAID: json.dumps(said)})


def read_layer(path: Path, at: int) -> Any:
    """The weights of a layer, a torch.Tensor [head, query, key]. Raises FileError where they are gone."""
    try:
        with safe_open(path, framework="pt") as file:
            return file.get_tensor(f"layer.{at}")
    except (OSError, SafetensorError):
        raise FileError(GONE) from None


def open_kept(path: Path) -> Kept:
    """What is kept there. Raises FileError where nothing is, or the file is damaged."""
    try:
        with safe_open(path, framework="numpy") as file:
            said = parsed(file.metadata()[_SAID].encode())
            n_layers = len(file.keys())
            n_heads, n_query, n_key = file.get_slice("layer.0").get_shape()
            kept = Kept(n_layers=n_layers, n_heads=n_heads, **said)
            if (n_query, n_key) != (len(kept.queries), len(kept.keys or kept.queries)):
                raise FileError("the file of these tensors is damaged; hand them in again")
            return kept
    except FileNotFoundError:
        raise FileError(GONE) from None
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError("the file of these tensors is damaged; hand them in again") from None
