"""A board as bytes for the browser: [uint32 header length][header JSON][padding to 8][arrays].

In the header, an array is {"$": [offset, type, shape]} with the offset counted from the end of the padding.
An array that stands in several panels is sent once; half precision stays half.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from viz_core.boards import Board

MAX_BYTES = 8 << 20
_TYPES = {"f": np.float32, "i": np.int32, "u": np.int32, "b": np.uint8}


def pack_board(board: Board) -> tuple[dict[str, Any], bytes]:
    """The board as plain values, and the bytes that its arrays point into. ValueError if it is too large."""
    blocks = _Blocks()
    described = _plain(board, blocks)
    arrays = b"".join(blocks.parts)
    if len(arrays) > MAX_BYTES:
        raise ValueError(
            f"The figure has {len(arrays) >> 20} MB; at most {MAX_BYTES >> 20} are sent; "
            "choose smaller sizes."
        )
    return described, arrays


def pack(header: dict[str, Any], arrays: bytes) -> bytes:
    """The message: header and arrays in one."""
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    start = len(text).to_bytes(4, "little") + text
    return start + bytes(-len(start) % 8) + arrays


class _Blocks:
    """The arrays met so far: their bytes, and where each was put."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self._known: dict[int, tuple[np.ndarray, dict[str, Any]]] = {}

    def place(self, array: np.ndarray) -> dict[str, Any]:
        """Where the array's numbers are, as the header says it."""
        if id(array) not in self._known:  # the array is kept beside, so that its id stays its own
            self._known[id(array)] = (array, self._add(array))
        return self._known[id(array)][1]

    def _add(self, array: np.ndarray) -> dict[str, Any]:
        kind = np.float16 if array.dtype == np.float16 else _TYPES[array.dtype.kind]
        packed = np.ascontiguousarray(array, dtype=kind)
        offset = self.size
        self.parts.append(packed.tobytes() + bytes(-packed.nbytes % 8))
        self.size += len(self.parts[-1])
        return {"$": [offset, packed.dtype.name, list(array.shape)]}


def _plain(value: Any, blocks: _Blocks) -> Any:
    if isinstance(value, np.ndarray):
        return blocks.place(value)
    if is_dataclass(value) and not isinstance(value, type):
        named = {spec.name: _plain(getattr(value, spec.name), blocks) for spec in fields(value)}
        return {"kind": type(value).__name__} | named
    if isinstance(value, tuple | list):
        return [_plain(entry, blocks) for entry in value]
    return value
