"""Attention that a person hands in as a file: how it is read and checked, and how it is kept."""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from jaxtyping import Float32
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ..byte_units import MB, readable
from ..files import FileError, parsed, read_bounded
from ..limits import in_force

# What an .npz, .safetensors or .json file of arrays holds; what it declares is checked before it is read.

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
        needed = {name: members[name] for name in _wanted(list(members))}
        _check_declared((name, *_header(archive, name, info)) for name, info in needed.items())
        arrays = {}
        for name, info in needed.items():
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
    needed = _wanted([name for name in header if name != "__metadata__"])
    _check_declared((name, header[name]["shape"], 1) for name in needed)
    tensors = dict(safetensors.deserialize(content))  # none is longer than its bytes, which none shares
    metadata = header.get("__metadata__", {})
    tokens = {name: parsed(metadata[name].encode()) for name in TOKENS if name in metadata}
    return _sorted({name: _tensor(name, tensors[name]) for name in needed} | tokens)


def _tensor(name: str, description: dict[str, Any]) -> np.ndarray:
    dtype = _SAFE_TYPES.get(description["dtype"])
    if dtype is None:
        raise FileError(f"holds {name!r} as {description['dtype']}, which is not read; convert it to float32")
    array = np.frombuffer(description["data"], dtype).reshape(description["shape"])
    if description["dtype"] == "BF16":  # a float32 without its last 16 bits, which NumPy does not know
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def _json(content: bytes) -> Contents:
    content_ = parsed(content)
    if isinstance(content_, list):
        content_ = {WEIGHTS[0]: content_}
    if not isinstance(content_, dict):
        raise FileError(f"holds a {type(content_).__name__}; give {{'attention': [...], 'tokens': [...]}}")
    names = _wanted([name for name, value in content_.items() if isinstance(value, list)])
    return _sorted({name: content_[name] for name in names})


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


def _sorted(arrays: dict[str, Any]) -> Contents:
    """Arrays that are numbered are layers, in the order of their numbers."""
    tokens = {name: value for name, value in arrays.items() if name in TOKENS}
    weights = {name: value for name, value in arrays.items() if name not in tokens}
    if len(weights) == 1 and not _LAYER.fullmatch(next(iter(weights))):
        return Contents(next(iter(weights.values())), tokens)
    numbered = {int(match[2]): name for name in weights if (match := _LAYER.fullmatch(name))}
    if len(numbered) < len(weights):
        raise FileError(f"has {len(weights)} arrays for {len(numbered)} layers; name each layer once")
    return Contents([weights[numbered[at]] for at in sorted(numbered)], tokens)


# Attention as arrays [layer, head, query, key] with both sides' tokens: checked, converted, described.

MAX_HEADS = 4_096
"""Heads of all layers: so many indices a link can name."""
MAX_TOKEN = 1_000
MAX_NAME = 80
AXES = "[layer, head, query, key], [head, query, key] or [query, key]"
TOLERANCE = 1e-2
"""How far the sum of a row may be from 1: so far are numbers of 16 bits."""


@dataclass(frozen=True, eq=False)
class OwnAttention:
    """weights: float32 [layer, head, query, key]. keys: None where they are the same tokens as the queries.

    note: what is to be known of the weights, in sentences.
    """

    title: str
    weights: Float32[np.ndarray, "layer head query key"]
    queries: list[str]
    keys: list[str] | None
    note: str


def read_file(path: str | Path) -> OwnAttention:
    """The attention of a file. Raises FileError (a ValueError) where it cannot be shown."""
    file = Path(path)
    return read_own(read_bounded(file, MAX_BYTES, "attention"), file.name)


def read_own(content: bytes, name: str) -> OwnAttention:
    """The attention of a file with this content and name. Raises FileError where it cannot be shown."""
    title = "".join(character for character in Path(name).name if character.isprintable())[-MAX_NAME:]
    contents = contents_of(content, title)
    try:
        weights = _weights(contents)
        queries, keys = _sides(contents.tokens, *weights.shape[2:])
        return OwnAttention(title, weights, queries, keys, _note(weights))
    except FileError as error:
        raise FileError(f"{title!r} {error}") from None


def _weights(contents: Contents) -> np.ndarray:
    """The weights [layer, head, query, key]."""
    weights_in = contents.weights
    if isinstance(weights_in, list) and weights_in and isinstance(weights_in[0], np.ndarray):
        shapes = sorted({layer.shape for layer in weights_in})
        if len(shapes) > 1:
            raise FileError(f"has layers of different shapes, {shapes[:3]}; give all of them one")
        weights_in = np.stack(weights_in)
    try:
        # Of lists no text is taken: its array would be as wide as the longest text, everywhere.
        array = weights_in if isinstance(weights_in, np.ndarray) else np.asarray(weights_in, np.float64)
    except (ValueError, TypeError, OverflowError):
        raise FileError(
            "has lists of different lengths, or something that is no number; give nested lists of numbers"
        ) from None
    if (
        array.ndim == 5 and array.shape[1] == 1
    ):  # a batch of one text, as torch.stack(outputs.attentions) has it
        array = array[:, 0]
    if not 2 <= array.ndim <= 4:
        raise FileError(f"has attention of the shape {array.shape}; give {AXES}")
    weights = array.reshape((1,) * (4 - array.ndim) + array.shape)
    _check_shape(weights.shape)
    with np.errstate(over="ignore"):
        weights = np.ascontiguousarray(weights, dtype="<f4")
    _check_values(weights)
    return np.minimum(weights, 1)


def _check_shape(shape: tuple[int, ...]) -> None:
    n_layers, n_heads, n_query, n_key = shape
    most = in_force().explore_tokens
    if 0 in shape:
        raise FileError(
            f"has attention of the shape {shape}, without a weight; give at least one of each axis"
        )
    if n_layers * n_heads > MAX_HEADS:
        raise FileError(
            f"has {n_layers:,} layers of {n_heads:,} heads, if its axes are [layer, head, query, key]; at "
            f"most {MAX_HEADS:,} heads are shown: hand in some of them"
        )
    if max(n_query, n_key) > most:
        raise FileError(
            f"has {n_query:,} queries and {n_key:,} keys; at most {most:,} are shown: hand in fewer"
        )
    if n_layers * n_heads * n_query * n_key > MAX_CELLS:
        raise FileError(f"has more than {MAX_CELLS:,} weights; hand in fewer layers, heads or tokens")


def _check_values(weights: np.ndarray) -> None:
    rules = (
        (~np.isfinite(weights), "is no finite number", "a masked key has the weight 0"),
        (weights < 0, "is negative", "hand in the weights after the softmax"),
        (weights > 1 + TOLERANCE, "is more than 1", "divide each row by its sum"),
    )
    for wrong, rule, remedy in rules:
        if wrong.any():
            at = tuple(map(int, np.unravel_index(wrong.argmax(), wrong.shape)))
            raise FileError(
                f"has the weight {weights[at]:g} at {list(at)}, which {rule}, as {int(wrong.sum()):,} of its "
                f"{weights.size:,} weights are; {remedy}"
            )


def _sides(tokens: dict[str, Any], n_query: int, n_key: int) -> tuple[list[str], list[str] | None]:
    """The tokens of queries and keys; None for keys that are the queries' own tokens."""
    texts_of = {name: _texts(name, labels) for name, labels in tokens.items()}
    both = texts_of.get("tokens")
    if both is not None and n_query != n_key:
        raise FileError(
            f"has one list of tokens for {n_query} queries and {n_key} keys; give query_tokens and key_tokens"
        )
    if n_query == n_key and both is None and len(texts_of) == 1:
        both = next(iter(texts_of.values()))
    queries = texts_of.get("query_tokens", both) or [str(at) for at in range(n_query)]
    keys = texts_of.get("key_tokens", both) or [str(at) for at in range(n_key)]
    for name, texts, count in (("query", queries, n_query), ("key", keys, n_key)):
        if len(texts) != count:
            raise FileError(
                f"has {len(texts)} tokens for {count} {name} positions; give one token for each {name}"
            )
    return queries, None if queries == keys else keys


def _texts(name: str, labels: Any) -> list[str]:
    """A list of tokens as texts that can be written."""
    try:
        listed = labels.tolist() if isinstance(labels, np.ndarray) else labels
    except (ValueError, UnicodeDecodeError):
        listed = None
    most, kinds = 2 * in_force().explore_tokens, str | int | float | bytes
    if not isinstance(listed, list) or not all(isinstance(each, kinds) for each in listed):
        raise FileError(f"has {name!r} that is no list of texts; give one text for each token")
    texts = [each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each) for each in listed]
    if len(texts) > most or max(map(len, texts), default=0) > MAX_TOKEN:
        raise FileError(
            f"has {len(texts):,} {name}, the longest of {max(map(len, texts)):,} characters; at most "
            f"{most:,} of {MAX_TOKEN:,} characters are read: shorten them"
        )
    return [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts]


def _note(weights: np.ndarray) -> str:
    """What is to be known: that there is nothing but weights, and which rows do not add up to 1."""
    note = "Only weights were handed in, no queries, keys, values or scores."
    sums = weights.sum(-1, dtype=np.float64)
    off = np.abs(sums - 1) > TOLERANCE
    if not off.any():
        return note
    least, largest = sums[off].min(), sums[off].max()
    return (
        f"{int(off.sum()):,} of {off.size:,} rows do not add up to 1 (sums {least:.3g} to {largest:.3g}): "
        f"shown as they are, measured by shares. {note}"
    )


# Own attention as it is kept: one .safetensors, written by us alone, of which a layer at a time is read.

ENDING = "attention"
_SAID = "attention-lab"


@dataclass(frozen=True)
class KeptAttention:
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
    facts = {"title": own.title, "queries": own.queries, "keys": own.keys, "note": own.note}
    layers = {f"layer.{at}": layer for at, layer in enumerate(own.weights)}
    return save(layers, metadata={_SAID: json.dumps(facts)})


def read_layer(path: Path, at: int) -> Any:
    """The weights of a layer, a torch.Tensor [head, query, key]. Raises FileError where they are gone."""
    try:
        with safe_open(path, framework="pt") as file:
            return file.get_tensor(f"layer.{at}")
    except (OSError, SafetensorError):
        raise FileError(GONE) from None


def open_kept(path: Path) -> KeptAttention:
    """What is kept there. Raises FileError where nothing is, or the file is damaged."""
    try:
        with safe_open(path, framework="numpy") as file:
            facts = parsed(file.metadata()[_SAID].encode())
            n_layers = len(file.keys())
            n_heads, n_query, n_key = file.get_slice("layer.0").get_shape()
            own = KeptAttention(n_layers=n_layers, n_heads=n_heads, **facts)
            if (n_query, n_key) != (len(own.queries), len(own.keys or own.queries)):
                raise FileError("the file of these tensors is damaged; hand them in again")
            return own
    except FileNotFoundError:
        raise FileError(GONE) from None
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError("the file of these tensors is damaged; hand them in again") from None
