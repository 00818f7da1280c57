"""What the browser draws, as bytes: [uint32 header length][header JSON][padding to 8][arrays].

In the header, an array is {"$": [offset, type, shape]} with the offset counted from the end of the padding.
An array that stands in several places is sent once; half precision stays half, and bytes stay bytes.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from ..boards import Panel

MAX_BYTES = 8_000_000
_KEPT = (np.float16, np.uint8)
_TYPES = {"f": np.float32, "i": np.int32, "u": np.int32, "b": np.uint8}


@dataclass(frozen=True)
class Packed:
    """A JSON object, and the bytes that the arrays in it point into."""

    header: bytes
    arrays: bytes

    @property
    def size(self) -> int:
        return len(self.header) + len(self.arrays)

    def message(self, **own: Any) -> bytes:
        """The bytes for the browser; `own` joins the header."""
        text = self.header[:-1] + b"," + to_json(own)[1:]
        start = len(text).to_bytes(4, "little") + text
        return start + bytes(-len(start) % 8) + self.arrays


def pack(**values: Any) -> Packed:
    """Packs boards, numbers, texts, arrays and containers. Raises ValueError if the arrays are too large."""
    blocks = _Blocks()
    header = to_json(values, blocks.convert)
    if blocks.size > MAX_BYTES:
        raise ValueError(
            f"The figure has {blocks.size / 1e6:.1f} MB; at most {MAX_BYTES / 1e6:.1f} MB are sent; "
            "choose smaller sizes."
        )
    return Packed(header, b"".join(blocks.parts))


def header_of(message: bytes) -> dict[str, Any]:
    """The header of a message, in which arrays are told by their places."""
    return dict(json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")]))


def with_header(message: bytes, **own: Any) -> bytes:
    """The message with other entries in its header."""
    start = 4 + int.from_bytes(message[:4], "little")
    others = {name: value for name, value in header_of(message).items() if name not in own}
    return Packed(to_json(others), message[start + -start % 8 :]).message(**own)


def to_json(value: Any, convert: Callable[[Any], Any] | None = None) -> bytes:
    """A value as JSON in bytes. convert: turns a value that JSON does not know into one that it does."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=convert)
    return text.encode()


class _Blocks:
    """The arrays met so far: their bytes, and where each was put."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self._known: dict[int, tuple[np.ndarray, dict[str, Any]]] = {}

    def convert(self, value: Any) -> Any:
        """An array becomes the place of its numbers, a panel or another dataclass its kind and fields."""
        if isinstance(value, np.ndarray):
            return self.place(value)
        if isinstance(value, Panel):
            return {"kind": type(value).__name__} | value.message()
        if is_dataclass(value) and not isinstance(value, type):
            values = {spec.name: getattr(value, spec.name) for spec in fields(value)}
            return {"kind": type(value).__name__} | values
        raise TypeError(f"{type(value).__name__} has no place in a message; give numbers, texts or arrays")

    def place(self, array: np.ndarray) -> dict[str, Any]:
        """Where the array's numbers are, as the header says it."""
        if id(array) not in self._known:  # the array is kept beside, so that its id stays its own
            self._known[id(array)] = (array, self._add(array))
        return self._known[id(array)][1]

    def _add(self, array: np.ndarray) -> dict[str, Any]:
        kind = array.dtype if array.dtype in _KEPT else _TYPES[array.dtype.kind]
        packed = np.ascontiguousarray(array, dtype=kind)
        offset = self.size
        self.parts.append(packed.tobytes() + bytes(-packed.nbytes % 8))
        self.size += len(self.parts[-1])
        return {"$": [offset, packed.dtype.name, list(array.shape)]}
