"""Reads, checks and keeps the attention that a person hands in as a file.

Arrays have the addresses of a trace (`decoder.0.cross.q`); or all layers of a stack in one
(`encoder.self.pattern`, or as transformers calls them `cross_attentions`); or, of one stack, the last part
alone (`attention`, `scores`, `q_0`). Beside patterns, or scores in their place, stand q, k, v, z, and
`logits`.
"""

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
from ..engine.address import attention_at, sides_of
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
TOKENS = (
    "tokens", "query_tokens", "key_tokens", "encoder_tokens", "decoder_tokens", "tokens.encoder",
    "tokens.decoder",
)  # fmt: skip
SHOWN_TOKENS = 1_030
"""The tokens of a text that Explore shows, whichever model reads it; more have no room on a screen."""
MAX_TOKENS = 3 * SHOWN_TOKENS
PATTERN, LOGITS = "pattern", "logits"
_NAME = re.compile(
    r"(?:(encoder|decoder)[._](?:(\d{1,4})\.)?)?(?:(self|cross)[._])?"
    rf"({'|'.join(WEIGHTS)}|scores|q|k|v|z)(?:[._]?(\d{{1,4}}))?"
)
_LONGEST = 200
_SAFE_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "|b1",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2",
    "U8": "|u1",
}  # fmt: skip


@dataclass(frozen=True)
class Contents:
    """What a file has of each stack ("" where none is named): its parts, such as "pattern", each one array or
    an array a layer; its lists of tokens by their names; and its logits.
    """

    stacks: dict[str, dict[str, Any]]
    tokens: dict[str, Any] = field(default_factory=dict)
    logits: Any = None


def contents_of(content: bytes, name: str) -> Contents:
    """What a file holds whose name ends in one of `FORMATS`. Raises FileError for what cannot be read."""
    ending = name.rpartition(".")[2].lower()
    if ending not in FORMATS:
        raise FileError(
            f"{name!r} ends in {ending[:20]!r}, but attention is read from .npz, .safetensors or .json "
            "alone; save it as one of these"
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
        raise FileError(f"{name!r} is no whole .{ending}; write it again") from None


def _npz(content: bytes) -> Contents:
    """The sizes that all headers declare are checked before an array is unpacked."""
    if content.count(b"PK\x01\x02") > MAX_MEMBERS:
        raise FileError(f"holds more than {MAX_MEMBERS:,} arrays; keep only attention and tokens")
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
        raise FileError("is packed in another way than numpy's; save it again with numpy.savez")
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in header:
            raise FileError(f"holds {name!r} in another format of numpy; save it again with numpy.savez")
        shape, _, dtype = header[version](stream)
    if dtype.hasobject:
        raise FileError(
            f"holds {name!r} as a pickle, which could run a program; save an array of numbers or "
            "text (dtype str)"
        )
    if name in TOKENS and (dtype.kind not in "biufSU" or not dtype.itemsize):
        raise FileError(
            f"has {name!r} that is no list of texts ({str(dtype)[:40]}); give one text for each token"
        )
    if name not in TOKENS and dtype.kind not in "biuf":
        raise FileError(f"has weights ({str(dtype)[:40]}) that are no numbers; give numbers from 0 to 1")
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
                f"declares {cells[what]:,} {what}, with {name!r} of {axes}; at most {most:,} are read: "
                "hand in fewer layers, heads or tokens"
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
    alone = [name for name in WEIGHTS if name in names][:1]  # others of that meaning are left alone
    parts = {name: _named(name) for name in names if name not in tokens and _NAME.fullmatch(name)}
    weights = [
        name
        for name, (stack, part, _) in parts.items()
        if name in alone or not alone or stack or part != PATTERN
    ]
    others = [name for name in names if name not in tokens and name != LOGITS]
    if not any(parts[name][1] in (PATTERN, "scores") for name in weights):
        weights = others if len(others) == 1 and len(others[0]) <= _LONGEST else []
    if not weights:
        there = ", ".join(repr(name[:40]) for name in others[:5]) or "nothing"
        raise FileError(f"holds {there}, but no array named 'attention' or 'pattern'; name it so")
    return weights + [LOGITS] * (LOGITS in names) + tokens


def _named(name: str) -> tuple[str, str, int | None]:
    """The stack, the part and the layer that a name means; "" and None where it says none."""
    match = _NAME.fullmatch(name)
    if match is None:
        return "", PATTERN, None
    side, layer, kind, part, later = match.groups()
    layer = later if layer is None else layer
    stack = f"{side or 'decoder'}.{kind or 'self'}" if side or kind == "cross" else ""
    return stack, PATTERN if part in WEIGHTS else part, None if layer is None else int(layer)


def _sorted(arrays: dict[str, Any]) -> Contents:
    """Arrays that are numbered are layers, in the order of their numbers."""
    tokens = {_by_side(name): value for name, value in arrays.items() if name in TOKENS}
    layers: dict[tuple[str, str], dict[int | None, Any]] = {}
    counts = Counter[tuple[str, str]]()
    for name in arrays:
        if name not in TOKENS and name != LOGITS:
            stack, part, layer = _named(name)
            layers.setdefault((stack, part), {})[layer] = arrays[name]
            counts[stack, part] += 1
    stacks: dict[str, dict[str, Any]] = {}
    for (stack, part), numbered in layers.items():
        if len(numbered) < counts[stack, part] or (None in numbered and len(numbered) > 1):
            named = len(numbered) - (None in numbered)
            raise FileError(f"has {counts[stack, part]} arrays for {named} layers; name each layer once")
        in_order = [numbered[at] for at in sorted(at for at in numbered if at is not None)]
        stacks.setdefault(stack, {})[part] = in_order or numbered[None]
    return Contents(stacks, tokens, arrays.get(LOGITS))


def _by_side(name: str) -> str:
    return "_".join(reversed(name.split("."))) if "." in name else name


# Attention as arrays [layer, head, query, key] with both sides' tokens: checked, converted, described.

MAX_HEADS = 4_096
"""Heads of all layers: so many indices a link can name."""
MAX_TOKEN = 1_000
MAX_NAME = 80
AXES = "[layer, head, query, key], [head, query, key] or [query, key]"
SEEN = 1e-4
"""Weights from which on a score is told."""
TOLERANCE = 1e-2
"""How far the sum of a row may be from 1: so far are numbers of 16 bits."""


@dataclass(frozen=True)
class KeptAttention:
    """What a file says of its attention.

    stacks: by name, such as "decoder.cross", the fields of `Attention`. tokens: of the sides that attend or
    are attended to. note: what is to be known, in sentences.
    """

    title: str
    stacks: dict[str, dict[str, Any]]
    tokens: dict[str, list[str]]
    note: str


@dataclass(frozen=True, eq=False)
class OwnAttention(KeptAttention):
    """tensors: float32, by the addresses of a trace."""

    tensors: dict[str, Float32[np.ndarray, "..."]]


def read_file(path: str | Path) -> OwnAttention:
    """The attention of a file. Raises FileError (a ValueError) where it cannot be shown."""
    file = Path(path)
    return read_own(read_bounded(file, MAX_BYTES, "attention"), file.name)


def read_own(content: bytes, name: str) -> OwnAttention:
    """The attention of a file with this content and name. Raises FileError where it cannot be shown."""
    title = "".join(character for character in Path(name).name if character.isprintable())[-MAX_NAME:]
    return _of_contents(contents_of(content, title), title)


def read_arrays(arrays: dict[str, Any], title: str) -> OwnAttention:
    """The attention of arrays that are at hand, named as in a file. Raises FileError as `read_own` does."""
    return _of_contents(_sorted({name: arrays[name] for name in _wanted(list(arrays))}), title)


def _of_contents(contents: Contents, title: str) -> OwnAttention:
    try:
        read = {stack: _parts(parts) for stack, parts in contents.stacks.items()}
        tokens, read = _tokens(contents.tokens, read)
        described = {stack: _complete(parts) for stack, parts in read.items()}
        tensors = {
            f"{stack.replace('.', f'.{layer}.')}.{part}": array[layer]
            for stack, parts in read.items()
            for layer in range(len(parts[PATTERN]))
            for part, array in parts.items()
        }
        n_heads = sum(fields["n_layers"] * fields["n_heads"] for fields, _ in described.values())
        if n_heads > MAX_HEADS or sum(array.size for array in tensors.values()) > 2 * MAX_CELLS:
            raise FileError(f"has {n_heads:,} heads in all stacks, too many or too large; hand in fewer")
        if contents.logits is not None:
            last = list(tokens)[-1]
            tensors[LOGITS] = _logits(contents.logits, len(tokens[last]))
        notes = dict.fromkeys(sentence for _, said in described.values() for sentence in said)
        sums = [_sums(parts[PATTERN]) for parts in read.values()]
        stacks = {stack: fields for stack, (fields, _) in described.items()}
        return OwnAttention(title, stacks, tokens, " ".join(filter(None, (*sums, *notes))), tensors)
    except FileError as error:
        raise FileError(f"{title!r} {error}") from None


def _parts(parts: dict[str, Any]) -> dict[str, np.ndarray]:
    """All parts of a stack as [layer, head, query, key or channel]; without a pattern, that of the scores."""
    read = {part: _numbers(array, part) for part, array in parts.items() if part != PATTERN}
    pattern = _weights(_softmax(read["scores"]) if PATTERN not in parts else parts[PATTERN])
    for part, array in read.items():
        along = pattern.shape[2 if part in ("q", "z", "scores") else 3]
        heads = array.shape[1] == pattern.shape[1] or (
            part in "kv" and pattern.shape[1] % array.shape[1] == 0
        )
        if len(array) != len(pattern) or not heads or array.shape[2] != along:
            raise FileError(
                f"has {part} of the shape {array.shape} beside patterns of {pattern.shape}; give matching "
                "shapes"
            )
    if "scores" in read and read["scores"].shape != pattern.shape:
        raise FileError(f"has scores of the shape {read['scores'].shape} beside patterns of {pattern.shape}")
    return {PATTERN: pattern, **read}


def _numbers(given: Any, part: str) -> np.ndarray:
    """Finite numbers [layer, head, position, channel]; a score may be -inf."""
    array = _array(given, part)
    if not 2 <= array.ndim <= 4:
        raise FileError(f"has {part} of the shape {array.shape}; give [layer, head, token, channel]")
    array = array.reshape((1,) * (4 - array.ndim) + array.shape)
    if 0 in array.shape:
        raise FileError(f"has {part} of the shape {array.shape}, without a number; give at least one")
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(array, dtype="<f4")
    if not (np.isfinite(numbers) | ((numbers == -np.inf) & (part == "scores"))).all():
        raise FileError(f"has {part} that are no finite numbers; a hidden score is -inf")
    return numbers


def _logits(given: Any, n: int) -> np.ndarray:
    array = _array(given, LOGITS)
    array = array[0] if array.ndim == 3 and len(array) == 1 else array
    if array.ndim != 2 or len(array) not in (1, n) or not np.isfinite(array).all():
        raise FileError(
            f"has logits of the shape {array.shape}; give finite ones, [token, output], of {n} tokens"
        )
    return np.ascontiguousarray(array, dtype="<f4")


def _softmax(scores: np.ndarray) -> np.ndarray:
    """Over keys; 0 in a row where all are hidden."""
    most = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(most), most, 0))
    return weights / np.maximum(weights.sum(-1, keepdims=True), np.finfo(np.float32).tiny)


def _complete(parts: dict[str, np.ndarray]) -> tuple[dict[str, Any], list[str]]:
    """What is known of a stack, as the fields of `Attention`, and sentences on what is missing; what follows
    from its parts is added to them: scores scaled and masked, and z.

    Scores may be as they were before scaling and masking: the pattern says the factor, a layer each, and
    which keys are hidden.
    """
    pattern = parts[PATTERN]
    q, k, v = (parts.get(name) for name in "qkv")
    fields = {
        "n_layers": len(pattern),
        "n_heads": pattern.shape[1],
        "d_head": 0,
        "n_key_heads": pattern.shape[1],
    }
    fields |= {"scales": (), "whole": False}
    dots = None
    if q is not None and k is not None and q.shape[3] == k.shape[3]:
        dots = q @ np.repeat(k, pattern.shape[1] // k.shape[1], axis=1).swapaxes(2, 3)
    notes = []
    if "scores" in parts:
        scores, factors = _fitted(parts["scores"], pattern)
        if scores is None:
            raise FileError("has scores whose softmax is another pattern; hand in those of the same pass")
        parts["scores"] = scores
        if any(abs(factor - 1) > TOLERANCE for factor in factors):
            said = ", ".join(sorted({f"{factor:.4g}" for factor in factors}))
            notes.append(f"Unscaled scores were handed in, and are multiplied by {said}.")
    elif dots is not None:
        scores, _ = _fitted(dots, pattern)
        if scores is not None:
            parts["scores"] = scores
    if v is not None and "z" not in parts:
        parts["z"] = pattern @ np.repeat(v, pattern.shape[1] // v.shape[1], axis=1)
    missing = [name for name in ("q", "k", "v", "scores") if name not in parts]
    if len(missing) == 4:
        return fields, ["Only weights were handed in."]
    scales = None if dots is None or missing else _scales(parts["scores"], dots)
    if scales is None or k is None or q is None:
        why = f"no {', '.join(missing)}" if missing else "scores that are no multiple of q · k"
        return fields, [*notes, f"Scores and numbers are not shown, since there are {why}."]
    return fields | {"d_head": q.shape[3], "n_key_heads": k.shape[1], "scales": scales, "whole": True}, notes


def _fitted(given: np.ndarray, pattern: np.ndarray) -> tuple[np.ndarray | None, tuple[float, ...]]:
    """Scores of which the pattern is the softmax: the given ones times a factor a layer, -inf where a key is
    hidden; None where no factor does.
    """
    hidden = np.isneginf(given) if np.isneginf(given).any() else pattern == 0
    seen = (pattern > SEEN) & ~hidden
    logs, known = np.log(pattern, where=seen, out=np.zeros_like(pattern)), np.where(seen, given, 0)
    count = np.maximum(seen.sum(-1, keepdims=True), 1)
    logs, known = (
        np.where(seen, each - each.sum(-1, keepdims=True) / count, 0).astype(np.float64)
        for each in (logs, known)
    )
    squares = (known**2).sum((1, 2, 3))
    factors = np.where(squares > 0, (logs * known).sum((1, 2, 3)) / np.maximum(squares, 1e-30), 1.0)
    factors = np.where(abs(factors - 1) < TOLERANCE, 1.0, factors)
    scores = np.where(hidden, -np.inf, given * factors[:, None, None, None]).astype("<f4")
    apart = abs(_softmax(scores) - pattern)
    return (scores if apart.max() <= TOLERANCE else None), tuple(map(float, factors))


def _scales(scores: np.ndarray, dots: np.ndarray) -> tuple[float, ...] | None:
    """What multiplies q . k in each layer; None where scores are made in another way."""
    scales = []
    for mine, products in zip(scores, dots, strict=True):
        seen = np.isfinite(mine)
        scale = float((mine[seen] * products[seen]).sum() / max(float((products[seen] ** 2).sum()), 1e-30))
        if abs(mine[seen] - scale * products[seen]).max(initial=0) > TOLERANCE * abs(mine[seen]).max(
            initial=1
        ):
            return None
        scales.append(scale)
    return tuple(scales)


def _array(given: Any, what: str = "attention") -> np.ndarray:
    """Layers in one array, without the batch of one text that torch.stack(outputs.attentions) has."""
    if isinstance(given, list) and given and isinstance(given[0], np.ndarray):
        shapes = sorted({layer.shape for layer in given})
        if len(shapes) > 1:
            raise FileError(f"has layers of different shapes, {shapes[:3]}; give all of them one")
        given = np.stack(given)
    try:
        # Of lists no text is taken: its array would be as wide as the longest text, everywhere.
        array = given if isinstance(given, np.ndarray) else np.asarray(given, np.float64)
    except (ValueError, TypeError, OverflowError):
        raise FileError(
            "has lists of different lengths or no numbers; give nested lists of numbers"
        ) from None
    return array[:, 0] if array.ndim == 5 and array.shape[1] == 1 else array


def _weights(given: Any) -> np.ndarray:
    """The weights [layer, head, query, key]."""
    array = _array(given)
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
    most = SHOWN_TOKENS
    if 0 in shape:
        raise FileError(
            f"has attention of the shape {shape}, without a weight; give at least one of each axis"
        )
    if n_layers * n_heads > MAX_HEADS:
        raise FileError(
            f"has {n_layers:,} layers of {n_heads:,} heads, read as [layer, head, query, key]; at most "
            f"{MAX_HEADS:,} heads are shown: hand in fewer"
        )
    if max(n_query, n_key) > most:
        raise FileError(
            f"has {n_query:,} queries and {n_key:,} keys; at most {most:,} are shown: hand in fewer"
        )


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
                f"has the weight {weights[at]:g} at {list(at)}, which {rule}, like {int(wrong.sum()):,} of "
                f"its {weights.size:,} weights; {remedy}"
            )


def _tokens(
    tokens: dict[str, Any], read: dict[str, dict[str, np.ndarray]]
) -> tuple[dict[str, list[str]], dict[str, dict[str, np.ndarray]]]:
    """The tokens of each side, and the stacks by their names: of one without a name by what it attends to."""
    if "" in read:
        if len(read) > 1:
            raise FileError(
                f"has arrays without a stack beside those of {', '.join(sorted(filter(None, read)))}; name "
                "all by stack, such as encoder.self.pattern"
            )
        pattern = read[""][PATTERN]
        queries, keys = _sides(tokens, *pattern.shape[2:])
        side = "decoder" if len(queries) > 1 and not np.triu(pattern, 1).any() else "encoder"
        if keys is None:
            return {side: queries}, {f"{side}.self": read[""]}
        return {"encoder": keys, "decoder": queries}, {"decoder.cross": read[""]}
    counts: dict[str, set[int]] = {}
    for stack, parts in read.items():
        for of, count in zip(sides_of(stack), parts[PATTERN].shape[2:], strict=True):
            counts.setdefault(of, set()).add(count)
    named = {"encoder": ("encoder_tokens", "key_tokens"), "decoder": ("decoder_tokens", "query_tokens")}
    labels = {}
    for side in sorted(counts, reverse=True):
        sizes = sorted(counts[side])
        if len(sizes) > 1:
            raise FileError(
                f"has {' and '.join(map(str, sizes))} tokens in its {side}; give stacks of one text"
            )
        names = [*named[side], *(["tokens"] if len(counts) == 1 else [])]
        given = next((_texts(name, tokens[name]) for name in names if name in tokens), None)
        labels[side] = [str(at) for at in range(sizes[0])] if given is None else given
        if len(labels[side]) != sizes[0]:
            raise FileError(
                f"has {len(labels[side])} tokens for {sizes[0]} positions of its {side}; give one for each"
            )
    order = [side for side in ("encoder", "decoder") if side in labels]
    stacks = ("encoder.self", "decoder.self", "decoder.cross")
    return {side: labels[side] for side in order}, {stack: read[stack] for stack in stacks if stack in read}


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
    most, kinds = 2 * SHOWN_TOKENS, str | int | float | bytes
    if not isinstance(listed, list) or not all(isinstance(each, kinds) for each in listed):
        raise FileError(f"has {name!r} that is no list of texts; give one text for each token")
    texts = [each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each) for each in listed]
    if len(texts) > most or max(map(len, texts), default=0) > MAX_TOKEN:
        raise FileError(
            f"has {len(texts):,} {name}, the longest of {max(map(len, texts)):,} characters; the limits are "
            f"{most:,} and {MAX_TOKEN:,}: shorten them"
        )
    return [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts]


def _sums(weights: np.ndarray) -> str:
    """Which rows do not add up to 1; "" for none."""
    sums = weights.sum(-1, dtype=np.float64)
    off = np.abs(sums - 1) > TOLERANCE
    if not off.any():
        return ""
    least, largest = sums[off].min(), sums[off].max()
    return (
        f"{int(off.sum()):,} of {off.size:,} rows do not add up to 1 (sums {least:.3g} to {largest:.3g}): "
        "they are measured by shares."
    )


# Own attention as it is kept: one .safetensors, written by us alone, of which a layer at a time is read.

ENDING = "attention"
_SAID = "attention-lab"


GONE = "these tensors are no longer here; hand them in again"


def to_keep(own: OwnAttention) -> bytes:
    """The file of this attention; the same attention gives the same bytes."""
    facts = {"title": own.title, "stacks": own.stacks, "tokens": own.tokens, "note": own.note}
    return save(own.tensors, metadata={_SAID: json.dumps(facts)})


def read_kept(path: Path, address: str) -> Any:
    """What is kept at an address, a torch.Tensor. Raises FileError where it is gone."""
    try:
        with safe_open(path, framework="pt") as file:
            return file.get_tensor(address)
    except (OSError, SafetensorError):
        raise FileError(GONE) from None


def open_kept(path: Path) -> tuple[KeptAttention, list[str]]:
    """What is kept there, and its addresses. Raises FileError where nothing is, or the file is damaged."""
    try:
        with safe_open(path, framework="numpy") as file:
            own = KeptAttention(**parsed(file.metadata()[_SAID].encode()))
            for stack, fields in own.stacks.items():
                last = f"{attention_at(stack, fields['n_layers'] - 1)}.pattern"
                n_heads, *sizes = file.get_slice(last).get_shape()
                read = [len(own.tokens[side]) for side in sides_of(stack)]
                if n_heads != fields["n_heads"] or sizes != read:
                    raise FileError("the file of these tensors is damaged; hand it in again")
            return own, list(file.keys())
    except FileNotFoundError:
        raise FileError(GONE) from None
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError("the file of these tensors is damaged; hand it in again") from None
