"""Attention as arrays [layer, head, query, key] with both sides' tokens: checked, converted, described."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32

from models.files import FileError, read_bounded
from models.limits import in_force
from models.zoo.own.containers import MAX_BYTES, MAX_CELLS, Contents, contents_of

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
    found = Path(path)
    return read_own(read_bounded(found, MAX_BYTES, "attention"), found.name)


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
    given = contents.weights
    if isinstance(given, list) and given and isinstance(given[0], np.ndarray):
        shapes = sorted({layer.shape for layer in given})
        if len(shapes) > 1:
            raise FileError(f"has layers of different shapes, {shapes[:3]}; give all of them one")
        given = np.stack(given)
    try:
        # Of lists no text is taken: its array would be as wide as the longest text, everywhere.
        found = given if isinstance(given, np.ndarray) else np.asarray(given, np.float64)
    except (ValueError, TypeError, OverflowError):
        raise FileError(
            "has lists of different lengths, or something that is no number; give nested lists of numbers"
        ) from None
    weights = _with_axes(found)
    _check_shape(weights.shape)
    with np.errstate(over="ignore"):
        weights = np.ascontiguousarray(weights, dtype="<f4")
    _check_values(weights)
    return np.minimum(weights, 1)


def _with_axes(found: np.ndarray) -> np.ndarray:
    """All four axes. A batch of one text, as torch.stack(outputs.attentions) has it, is taken away."""
    if found.ndim == 5 and found.shape[1] == 1:
        found = found[:, 0]
    if not 2 <= found.ndim <= 4:
        raise FileError(f"has attention of the shape {found.shape}; give {AXES}")
    return found.reshape((1,) * (4 - found.ndim) + found.shape)


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
    said = {name: _texts(name, given) for name, given in tokens.items()}
    both = said.get("tokens")
    if both is not None and n_query != n_key:
        raise FileError(
            f"has one list of tokens for {n_query} queries and {n_key} keys; give query_tokens and key_tokens"
        )
    if n_query == n_key and both is None and len(said) == 1:
        both = next(iter(said.values()))
    queries = said.get("query_tokens", both) or _numbered(n_query)
    keys = said.get("key_tokens", both) or _numbered(n_key)
    for name, texts, count in (("query", queries, n_query), ("key", keys, n_key)):
        if len(texts) != count:
            raise FileError(
                f"has {len(texts)} tokens for {count} {name} positions; give one token for each {name}"
            )
    return queries, None if queries == keys else keys


def _numbered(count: int) -> list[str]:
    return [str(at) for at in range(count)]


def _texts(name: str, given: Any) -> list[str]:
    """A list of tokens as texts that can be written."""
    try:
        listed = given.tolist() if isinstance(given, np.ndarray) else given
    except (ValueError, UnicodeDecodeError):
        listed = None
    most = 2 * in_force().explore_tokens
    if not isinstance(listed, list) or any(
        not isinstance(each, str | int | float | bytes) for each in listed
    ):
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
    said = "Only weights were handed in, no queries, keys, values or scores."
    sums = weights.sum(-1, dtype=np.float64)
    off = np.abs(sums - 1) > TOLERANCE
    if not off.any():
        return said
    least, largest = sums[off].min(), sums[off].max()
    return (
        f"{int(off.sum()):,} of {off.size:,} rows do not add up to 1 (sums {least:.3g} to {largest:.3g}): "
        f"shown as they are, measured by shares. {said}"
    )
