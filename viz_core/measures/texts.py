"""Measures that ask for tokens, or for pairs of positions that belong together."""

import unicodedata
from collections import Counter

import numpy as np

from viz_core.measures.given import Given, Pairs

# What tokenizers write for a space before a word; no character of the text.
SPACES = "Ġ▁"


def on_duplicate(of: Given) -> np.ndarray | None:
    if of.cross or of.tokens is None:
        return None
    again = _rows_with(_occurred_before(of))
    if not again.any():
        return None
    others = of.same_token & ~np.eye(of.n_keys, dtype=bool)
    return of.mean(_weight_on(of, others), again)


def on_induced(of: Given) -> np.ndarray | None:
    if of.cross or of.tokens is None:
        return None
    earlier = _occurred_before(of)
    counted = _rows_with(earlier)
    if not counted.any():
        return None
    after = np.zeros_like(earlier)
    after[:, 1:] = earlier[:, :-1]  # the position right after an earlier occurrence
    return of.mean(_weight_on(of, after), counted)


def on_punctuation(of: Given) -> np.ndarray | None:
    if of.tokens is None:
        return None
    marks = np.array([is_punctuation(str(token)) for token in of.tokens])
    return of.mean(of.weights @ marks.astype(of.weights.dtype)) if marks.any() else None


def on_rarest(of: Given) -> np.ndarray | None:
    if of.tokens is None:
        return None
    counts = Counter(of.tokens) if of.counts is None else of.counts
    numbers = np.array([float(counts.get(token, 0)) for token in of.tokens])
    rarest = numbers == numbers.min()
    return None if rarest.all() else of.mean(of.weights @ rarest.astype(of.weights.dtype))


def agreement(of: Given) -> np.ndarray | None:
    if not of.pairs:
        return None
    given = _cells(of, of.pairs)
    return of.mean(_weight_on(of, given), _rows_with(given))


def hits(of: Given) -> np.ndarray | None:
    if not of.pairs:
        return None
    given = _cells(of, of.pairs)
    largest = of.weights.argmax(-1)  # [..., query]
    return of.mean(given[np.arange(len(given)), largest], _rows_with(given))


def alignment_error(of: Given) -> np.ndarray | None:
    if not of.pairs or not of.sure:
        return None
    possible, sure = _cells(of, of.pairs), _cells(of, of.sure)
    counted = _rows_with(possible) & of.attending  # [..., query]
    at, largest = np.arange(len(possible)), of.weights.argmax(-1)  # [query] and [..., query]
    found = sum(((cells[at, largest] & counted).sum(-1) for cells in (possible, sure)), 0)
    return np.asarray(1 - found / np.maximum(counted.sum(-1) + sure.sum(), 1))


def is_punctuation(token: str) -> bool:
    """Whether a token consists of punctuation alone, whatever its tokenizer writes for a space before it."""
    marks = token.strip().lstrip(SPACES)
    return bool(marks) and all(unicodedata.category(mark).startswith("P") for mark in marks)


def _occurred_before(of: Given) -> np.ndarray:
    """[query, key]: whether the key is an earlier occurrence of the query's token."""
    return of.same_token & np.tri(of.n_keys, k=-1, dtype=bool)


def _rows_with(cells: np.ndarray) -> np.ndarray:
    """[query, key] -> [query]: the rows with any such cell."""
    return np.asarray(cells.any(axis=-1))


def _cells(of: Given, pairs: Pairs) -> np.ndarray:
    """[query, key]: whether they are one of the pairs."""
    found = np.zeros(of.weights.shape[-2:], dtype=bool)
    found[tuple(np.array(pairs).T)] = True
    return found


def _weight_on(of: Given, keys: np.ndarray) -> np.ndarray:
    """Each query's weight on its own set of keys: keys [query, key] -> [..., query]."""
    return np.asarray(np.einsum("...qk,qk->...q", of.weights, keys.astype(of.weights.dtype)))
