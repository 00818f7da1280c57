"""What an .npz, .safetensors or .json file of arrays holds; what it declares is checked before it is read."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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
MAX_JSON_BYTES = 2 * MB
"""JSON becomes Python's own objects, up to 36 bytes for each of its bytes, while other threads wait."""
MAX_ITEM = 8
MAX_TEXT_BYTES = 8 * MB
MAX_MEMBERS = 5_000
WEIGHTS = ("attention", "attentions", "pattern", "patterns")
TOKENS = ("tokens", "query_tokens", "key_tokens")
MAX_TOKENS = len(TOKENS) * in_force().explore_tokens
_LAYER = re.compile(rf"({'|'.join(WEIGHTS)})[._]?(\d{{1,4}})")
_LONGEST = 200
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
    except Exception:  # a stranger's bytes may cause any error of any of the readers
        raise FileError(
            f"{name!r} is no whole .{ending}: it is damaged, or another file; write it again"
        ) from None


def _npz(content: bytes) -> Contents:
    """The sizes that all headers declare are checked before an array is unpacked."""
    if content.count(b"PK\x01\x02") > MAX_MEMBERS:
        raise FileError(f"holds more than {MAX_MEMBERS:,} arrays; keep the attention and its tokens alone")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        wanted = {name: members[name] for name in _wanted(list(members))}
        _check_declared((name, *_header(archive, name, info)) for name, info in wanted.items())
        arrays = {}
        for name, info in wanted.items():
            with archive.open(info) as stream:  # it gives no more bytes than the directory declares
                arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
                if stream.read(1):
                    raise ValueError("more bytes than the array has")
    return _sorted(arrays)


def _header(archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo) -> tuple[tuple[int, ...], int]:
    """The shape that an array declares, and the bytes of an item."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FileError("is packed in a way that numpy does not write; save it again with numpy.savez")
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
    if name in TOKENS and (dtype.kind not in "biufSU" or not dtype.itemsize):
        raise FileError(
            f"has {name!r} that is no list of texts ({str(dtype)[:40]}); give one text for each token"
        )
    if name not in TOKENS and dtype.kind not in "biuf":
        raise FileError(f"has weights that are no numbers ({str(dtype)[:40]}); give numbers from 0 to 1")
    return shape, dtype.itemsize


def _check_declared(arrays: Iterable[tuple[str, Sequence[int], int]]) -> None:
    """Raises FileError where arrays with these names, shapes and bytes of an item are too much together."""
    weights, tokens = (MAX_CELLS, MAX_CELLS * MAX_ITEM), (MAX_TOKENS, MAX_TEXT_BYTES)
    cells, n_bytes = Counter[str](), Counter[str]()
    for name, shape, item in arrays:
        what, (most, most_bytes) = ("tokens", tokens) if name in TOKENS else ("weights", weights)
        cells[what] += math.prod(shape)
        n_bytes[what] += math.prod(shape) * item
        axes = " x ".join(map(str, shape))
        if min(shape, default=0) < 0 or len(axes) > _LONGEST:
            raise ValueError("no shape of an array")
        if cells[what] > most:
            raise FileError(
                f"declares {cells[what]:,} {what}, with {name!r} of {axes}; at most {most:,} are read of a "
                "file: hand in fewer layers, heads or tokens"
            )
        if n_bytes[what] > most_bytes:
            raise FileError(
                f"declares {readable(n_bytes[what])} of {what}, with {name!r}; at most "
                f"{readable(most_bytes)} are unpacked: hand in fewer layers, heads or tokens"
            )


def _safetensors(content: bytes) -> Contents:
    """Tokens are lists written as JSON in the file's metadata, since its tensors are numbers."""
    n_header = int.from_bytes(content[:8], "little")
    if n_header > MAX_JSON_BYTES:
        raise FileError(
            f"declares a header of {readable(n_header)}; at most {readable(MAX_JSON_BYTES)} are read"
        )
    header = parsed(content[8 : 8 + n_header])
    wanted = _wanted([name for name in header if name != "__metadata__"])
    _check_declared((name, header[name]["shape"], 1) for name in wanted)
    tensors = dict(safetensors.deserialize(content))  # none is longer than its bytes, which none shares
    said = header.get("__metadata__", {})
    tokens = {name: parsed(said[name].encode()) for name in TOKENS if name in said}
    return _sorted({name: _tensor(name, tensors[name]) for name in wanted} | tokens)


def _tensor(name: str, said: dict[str, Any]) -> np.ndarray:
    dtype = _SAFE_TYPES.get(said["dtype"])
    if dtype is None:
        raise FileError(f"holds {name!r} as {said['dtype']}, which is not read; convert it to float32")
    array = np.frombuffer(said["data"], dtype).reshape(said["shape"])
    if said["dtype"] == "BF16":  # a float32 without its last 16 bits, which NumPy does not know
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def _json(content: bytes) -> Contents:
    found = parsed(content)
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
    if not weights and len(others) == 1 and len(others[0]) <= _LONGEST:
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
    if len(numbered) < len(weights):
        raise FileError(f"has {len(weights)} arrays for {len(numbered)} layers; name each layer once")
    return Contents([weights[numbered[at]] for at in sorted(numbered)], tokens)
