"""What an .npz, .safetensors or .json file of arrays holds; what it declares is checked before it is read."""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import safetensors

from models.byte_units import MB, readable
from models.files import FileError, parsed
from models.limits import in_force

FORMATS = ("npz", "safetensors", "json")
MAX_BYTES = in_force().upload_mb * MB
MAX_CELLS = MAX_BYTES // 5
"""The weights of one file; kept as float32 they take four fifths of an upload."""
MAX_JSON_BYTES = min(MAX_BYTES, 16 * MB)
MAX_ITEM = 8
MAX_TEXT_BYTES = 8 * MB
MAX_MEMBERS = 5_000
WEIGHTS = ("attention", "attentions", "pattern", "patterns")
TOKENS = ("tokens", "query_tokens", "key_tokens")
_LAYER = re.compile(rf"({'|'.join(WEIGHTS)})[._]?(\d{{1,4}})")
_SAFE_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "|b1",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2",
    "U8": "|u1",
}  # fmt: skip


@dataclass(frozen=True)
class Contents:
    """The weights of a file, one array or an array a layer, and its lists of tokens by their names."""

    weights: Any
    tokens: dict[str, Any] = field(default_factory=dict)


def contents_of(content: bytes, name: str) -> Contents:
    """What a file holds whose name ends in one of `FORMATS`. Raises FileError for what cannot be read."""
    ending = name.rpartition(".")[2].lower()
    if ending not in FORMATS:
        raise FileError(
            f"{name!r} ends in {ending[:20]!r}, but attention is read from .npz, .safetensors or .json "
            "alone, which hold no program; save it as one of these"
        )
    limit = MAX_JSON_BYTES if ending == "json" else MAX_BYTES
    if len(content) > limit:
        raise FileError(
            f"{name!r} has {readable(len(content))}; at most {readable(limit)} of .{ending} are read: "
            "hand in fewer layers, heads or tokens" + (", or an .npz" if ending == "json" else "")
        )
    read: Callable[[bytes], Contents] = {"npz": _npz, "safetensors": _safetensors, "json": _json}[ending]
    try:
        return read(content)
    except FileError as error:
        raise FileError(f"{name!r} {error}") from None


def _npz(content: bytes) -> Contents:
    """The sizes that the archive and the arrays' headers declare are checked before an array is unpacked."""
    damaged = FileError("is no whole .npz: it is damaged, or another file; save it again with numpy.savez")
    if content.count(b"PK\x01\x02") > MAX_MEMBERS:
        raise FileError(f"holds more than {MAX_MEMBERS:,} arrays; keep the attention and its tokens alone")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            wanted = _wanted(list(members))
            arrays = {name: _member(archive, name, members[name]) for name in wanted}
    except FileError:
        raise
    except (zipfile.BadZipFile, zlib.error, ValueError, RuntimeError, OSError, EOFError, SyntaxError):
        raise damaged from None
    return _sorted(arrays)


def _member(archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo) -> np.ndarray:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FileError("is packed in a way that numpy does not write; save it again with numpy.savez")
    most = MAX_TEXT_BYTES if name in TOKENS else MAX_CELLS * MAX_ITEM
    _check_size(name, info.file_size, most + MAX_MEMBERS)
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in header:
            raise FileError(f"holds {name!r} in another format of numpy; save it again with numpy.savez")
        shape, _, dtype = header[version](stream)
    if dtype.hasobject:
        raise FileError(
            f"holds {name!r} as a pickle of Python objects, which can run any program when read; save an "
            "array of numbers, or of text (dtype str)"
        )
    if name not in TOKENS:
        _check_cells(name, shape)
    _check_size(name, math.prod(shape) * dtype.itemsize, most)
    with archive.open(info) as stream:  # it gives no more bytes than the directory declares
        return np.lib.format.read_array(stream, allow_pickle=False)


def _safetensors(content: bytes) -> Contents:
    """Tokens are lists written as JSON in the file's metadata, since its tensors are numbers."""
    n_header = int.from_bytes(content[:8], "little")
    if n_header > MAX_TEXT_BYTES:
        raise FileError(
            f"declares a header of {readable(n_header)}; at most {readable(MAX_TEXT_BYTES)} are read"
        )
    try:
        header = parsed(content[8 : 8 + n_header])
        wanted = _wanted([name for name in header if name != "__metadata__"])
        for name in wanted:
            _check_cells(name, tuple(header[name]["shape"]))
        tensors = dict(safetensors.deserialize(content))
        said = header.get("__metadata__", {})
        tokens = {name: parsed(said[name].encode()) for name in TOKENS if name in said}
        return _sorted({name: _tensor(name, tensors[name]) for name in wanted} | tokens)
    except FileError:
        raise
    except (safetensors.SafetensorError, ValueError, TypeError, KeyError, AttributeError):
        raise FileError("is no whole .safetensors: it is damaged, or another file; save it again") from None


def _tensor(name: str, said: dict[str, Any]) -> np.ndarray:
    dtype = _SAFE_TYPES.get(said["dtype"])
    if dtype is None:
        raise FileError(f"holds {name!r} as {said['dtype']}, which is not read; convert it to float32")
    array = np.frombuffer(said["data"], dtype).reshape(said["shape"])
    if said["dtype"] == "BF16":  # a float32 without its last 16 bits, which NumPy does not know
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def _json(content: bytes) -> Contents:
    try:
        found = parsed(content)
    except ValueError:
        raise FileError("is no JSON: it is damaged, or another file; write it again") from None
    if isinstance(found, list):
        found = {WEIGHTS[0]: found}
    if not isinstance(found, dict):
        raise FileError(f"holds a {type(found).__name__}; give {{'attention': [...], 'tokens': [...]}}")
    return _sorted({name: found[name] for name in _wanted([n for n in found if isinstance(found[n], list)])})


def _wanted(names: list[str]) -> list[str]:
    """The names of what is read. Raises FileError where none is attention."""
    tokens = [name for name in names if name in TOKENS]
    weights = [name for name in WEIGHTS if name in names][:1] or [n for n in names if _LAYER.fullmatch(n)]
    others = [name for name in names if name not in tokens]
    if not weights and len(others) == 1:
        weights = others
    if not weights:
        there = ", ".join(repr(name[:40]) for name in others[:5]) or "nothing"
        raise FileError(f"holds {there}, but no array named 'attention' or 'pattern'; name it so")
    return weights + tokens


def _sorted(found: dict[str, Any]) -> Contents:
    """Arrays that are numbered are layers, in the order of their numbers."""
    tokens = {name: value for name, value in found.items() if name in TOKENS}
    weights = {name: value for name, value in found.items() if name not in tokens}
    if len(weights) == 1 and not _LAYER.fullmatch(next(iter(weights))):
        return Contents(next(iter(weights.values())), tokens)
    numbered = {int(match[2]): name for name in weights if (match := _LAYER.fullmatch(name))}
    return Contents([weights[numbered[at]] for at in sorted(numbered)], tokens)


def _check_cells(name: str, shape: tuple[int, ...]) -> None:
    cells = math.prod(shape)
    if cells > MAX_CELLS:
        raise FileError(
            f"declares {name!r} of {' x '.join(map(str, shape))} = {cells:,} weights; at most {MAX_CELLS:,} "
            "are read: hand in fewer layers, heads or tokens"
        )


def _check_size(name: str, n_bytes: int, most: int) -> None:
    if n_bytes > most:
        raise FileError(
            f"declares {readable(n_bytes)} for {name!r}; at most {readable(most)} are unpacked: hand in "
            "fewer layers, heads or tokens"
        )
