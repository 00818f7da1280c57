"""Computes every measure of one head; `MEASURES` adds its name and definition from one_head.toml."""

import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, SupportsFloat

import numpy as np
from jaxtyping import Bool, Float

from .._checks import check_patterns, check_rows

# What a measure is computed from: checked patterns, and the tokens, counts and pairs that some ask for.

Patterns = Float[np.ndarray, "*heads query key"]
PerHead = Float[np.ndarray, "*heads"]
Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class MeasureInput:
    """Weights [..., query, key] of float32 or better, which queries attend to anything, and the rest."""

    weights: np.ndarray
    attending: np.ndarray  # [..., query]
    cross: bool
    tokens: Sequence[object] | None = None  # one per key
    counts: Mapping[Any, int | float] | None = None
    pairs: Pairs | None = None
    sure: Pairs | None = None  # those of the pairs that are sure
    repeat: tuple[int, int] | None = None  # (start, n): n tokens stand twice in a row, from start on

    @property
    def n_keys(self) -> int:
        return int(self.weights.shape[-1])

    @cached_property
    def same_token(self) -> Bool[np.ndarray, "key key"]:
        """Which positions hold the same token."""
        return _same_token(tuple(self.tokens or ()))

    def mean(self, values: np.ndarray, counted: np.ndarray | None = None) -> np.ndarray:
        """Mean of `values` [..., query] over the queries that count and attend; 0 where there is none."""
        return mean_over(values, self.attending if counted is None else self.attending & counted)


@lru_cache(maxsize=2)  # all layers of a stack ask for the same
def _same_token(tokens: tuple[object, ...]) -> np.ndarray:
    numbers: dict[object, int] = {}
    codes = np.array([numbers.setdefault(token, len(numbers)) for token in tokens])
    return np.equal(codes[:, None], codes[None, :])


def checked_input(pattern: Patterns, cross: bool | None = None, **given: Any) -> MeasureInput:
    """Checks everything. Raises ValueError for weights, rows, tokens, pairs or repetitions that cannot be."""
    of = MeasureInput(*checked_patterns(pattern), is_cross(pattern, cross), **given)
    n_queries, n_keys = of.weights.shape[-2:]
    if of.tokens is not None and len(of.tokens) != n_keys:
        raise ValueError(f"{len(of.tokens)} tokens for {n_keys} positions; pass one token per position")
    for query, key in (*(of.pairs or ()), *(of.sure or ())):
        if not (0 <= query < n_queries and 0 <= key < n_keys):
            raise ValueError(
                f"the pair ({query}, {key}) lies outside {n_queries} queries x {n_keys} keys; "
                "count both from 0, the query first"
            )
    if of.sure and not set(of.sure) <= set(of.pairs or ()):
        raise ValueError("sure has a pair that pairs lacks; every sure pair is a possible one, so give both")
    if of.repeat is not None:
        _check_repeat(*of.repeat, n_keys, of.cross)
    return of


def _check_repeat(start: int, n: int, n_keys: int, cross: bool) -> None:
    if cross:
        raise ValueError("tokens repeat within one text, but this is cross-attention; leave repeat out")
    if start < 0 or n < 1 or start + 2 * n > n_keys:
        raise ValueError(
            f"{n} tokens twice from position {start} on do not fit {n_keys} positions; count from 0, and "
            "give at least one token"
        )


def checked_patterns(pattern: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights [..., query, key], in float32 or better, and which queries attend to anything [..., query]."""
    check_patterns(pattern)
    weights = pattern.astype(np.result_type(pattern, np.float32), copy=False)
    return weights, check_rows(weights) > 0.5


def is_cross(pattern: np.ndarray, cross: bool | None) -> bool:
    """Whether keys are another text than queries; unless told, they are if their numbers differ."""
    if cross is None and pattern.ndim >= 2:
        return pattern.shape[-2] != pattern.shape[-1]
    return bool(cross)


def mean_over(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Mean over the last axis of what is counted, in float64; 0 where nothing is."""
    total = (values * counted).sum(-1, dtype=np.float64)
    return np.asarray(total / np.maximum(counted.sum(-1), 1))


# Measures that ask for the pattern alone.


def entropy(pattern: Patterns) -> PerHead:
    """Mean entropy of a head's rows in nats (Clark et al. 2019, What Does BERT Look At?, section 3.3)."""
    weights, attending = checked_patterns(pattern)
    return mean_over(row_entropy(weights), attending)


_CACHED = 2**16
"""Numbers that stay in a processor's cache from step to step: larger matrices are taken one by one."""


def row_entropy(weights: np.ndarray) -> np.ndarray:
    """Shannon entropy of each row in nats: 0 for one key (or none), ln(n) for n keys looked at alike."""
    if weights.ndim > 2 and weights[0].size > _CACHED:
        return np.stack([row_entropy(each) for each in weights])
    # The smallest normal number stands in for 0, so that 0 * log(0) is 0.
    logs = np.maximum(weights, np.finfo(weights.dtype).tiny)
    np.log(logs, out=logs)
    return np.maximum(-np.einsum("...qk,...qk->...q", weights, logs).astype(np.float64), 0.0)


def mean_distance(of: MeasureInput) -> np.ndarray | None:
    if of.cross:
        return None
    positions = np.arange(of.n_keys, dtype=of.weights.dtype)
    distance = np.abs(positions[:, None] - positions[None, :])  # [query, key]
    return of.mean(np.einsum("...qk,qk->...q", of.weights, distance))


def on_first(of: MeasureInput) -> np.ndarray | None:
    if of.cross:
        return of.mean(of.weights[..., 0])
    if of.n_keys == 1:
        return None
    return mean_over(of.weights[..., 1:, 0], of.attending[..., 1:])


def on_same(of: MeasureInput) -> np.ndarray | None:
    if of.cross or of.n_keys == 1:
        return None
    diagonal = np.diagonal(of.weights, axis1=-2, axis2=-1)
    return mean_over(diagonal[..., 1:], of.attending[..., 1:])


def _on_offset(of: MeasureInput, offset: int) -> np.ndarray | None:
    """Mean weight on the token `offset` after the query; queries without such a token are left out."""
    if of.cross or of.n_keys == 1:
        return None
    rows = slice(max(0, -offset), of.n_keys - max(0, offset))
    return mean_over(np.diagonal(of.weights, offset, axis1=-2, axis2=-1), of.attending[..., rows])


# Measures that ask for tokens, or for pairs of positions that belong together.

# What tokenizers write for a space before a word; no character of the text.
SPACES = "Ġ▁"


def on_duplicate(of: MeasureInput) -> np.ndarray | None:
    if of.cross or of.tokens is None:
        return None
    again = _rows_with(_occurred_before(of))
    if not again.any():
        return None
    others = of.same_token & ~np.eye(of.n_keys, dtype=bool)
    return of.mean(_weight_on(of, others), again)


def on_induced(of: MeasureInput) -> np.ndarray | None:
    if of.cross or of.tokens is None:
        return None
    earlier = _occurred_before(of)
    counted = _rows_with(earlier)
    if not counted.any():
        return None
    after = np.zeros_like(earlier)
    after[:, 1:] = earlier[:, :-1]  # the position right after an earlier occurrence
    return of.mean(_weight_on(of, after), counted)


def on_punctuation(of: MeasureInput) -> np.ndarray | None:
    if of.tokens is None:
        return None
    marks = np.array([is_punctuation(str(token)) for token in of.tokens])
    return of.mean(of.weights @ marks.astype(of.weights.dtype)) if marks.any() else None


def on_rarest(of: MeasureInput) -> np.ndarray | None:
    if of.tokens is None:
        return None
    counts = Counter(of.tokens) if of.counts is None else of.counts
    numbers = np.array([float(counts.get(token, 0)) for token in of.tokens])
    rarest = numbers == numbers.min()
    return None if rarest.all() else of.mean(of.weights @ rarest.astype(of.weights.dtype))


def agreement(of: MeasureInput) -> np.ndarray | None:
    if not of.pairs:
        return None
    cells = _cells(of, of.pairs)
    return of.mean(_weight_on(of, cells), _rows_with(cells))


def hits(of: MeasureInput) -> np.ndarray | None:
    if not of.pairs:
        return None
    cells = _cells(of, of.pairs)
    largest = of.weights.argmax(-1)  # [..., query]
    return of.mean(cells[np.arange(len(cells)), largest], _rows_with(cells))


def alignment_error(of: MeasureInput) -> np.ndarray | None:
    if not of.pairs or not of.sure:
        return None
    possible, sure = _cells(of, of.pairs), _cells(of, of.sure)
    counted = _rows_with(possible) & of.attending  # [..., query]
    at, largest = np.arange(len(possible)), of.weights.argmax(-1)  # [query] and [..., query]
    agreements = sum(((cells[at, largest] & counted).sum(-1) for cells in (possible, sure)), 0)
    return np.asarray(1 - agreements / np.maximum(counted.sum(-1) + sure.sum(), 1))


@lru_cache(maxsize=2**14)
def is_punctuation(token: str) -> bool:
    """Whether a token consists of punctuation alone, whatever its tokenizer writes for a space before it."""
    marks = token.strip().lstrip(SPACES)
    return (
        bool(marks)
        and not marks.isalnum()
        and all(unicodedata.category(mark).startswith("P") for mark in marks)
    )


def _occurred_before(of: MeasureInput) -> np.ndarray:
    """[query, key]: whether the key is an earlier occurrence of the query's token."""
    return of.same_token & np.tri(of.n_keys, k=-1, dtype=bool)


def _rows_with(cells: np.ndarray) -> np.ndarray:
    """[query, key] -> [query]: the rows with any such cell."""
    return np.asarray(cells.any(axis=-1))


def _cells(of: MeasureInput, pairs: Pairs) -> np.ndarray:
    """[query, key]: whether they are one of the pairs."""
    cells = np.zeros(of.weights.shape[-2:], dtype=bool)
    cells[tuple(np.array(pairs).T)] = True
    return cells


def _weight_on(of: MeasureInput, keys: np.ndarray) -> np.ndarray:
    """Each query's weight on its own set of keys: keys [query, key] -> [..., query]."""
    return np.asarray(np.einsum("...qk,qk->...q", of.weights, keys.astype(of.weights.dtype)))


# Measures on random tokens that are read twice in a row, where nothing else can be known of them.
# Each head is asked from the second half: there, a token's first occurrence is `n` positions before.


def _back(of: MeasureInput, distance: Callable[[int], int]) -> np.ndarray | None:
    """Mean weight of the second half's queries on the key so far before each, by the number of tokens."""
    if of.repeat is None:
        return None
    start, n = of.repeat
    queries = np.arange(start + n, start + 2 * n)
    return mean_over(of.weights[..., queries, queries - distance(n)], of.attending[..., queries])


# Every measure of one head: what computes it is here, its words and what it needs are in one_head.toml.

Need = Literal["tokens", "pairs", "sure", "repeat"]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A number per head: a mean over the queries that count, of patterns a(query, key).

    name: its key in `head_scores`. What the other fields say is told in one_head.toml.
    """

    name: str
    title: str
    definition: str
    formula: str
    compute: Callable[[MeasureInput], np.ndarray | None]
    smallest_first: bool = False
    cross: bool = False
    needs: Need | None = None
    label: str = ""
    source: str


_COMPUTED: dict[str, Callable[[MeasureInput], np.ndarray | None]] = {
    "entropy": lambda of: of.mean(row_entropy(of.weights)),
    "confidence": lambda of: of.mean(of.weights.max(-1)),
    "mean_distance": mean_distance,
    "previous": lambda of: _on_offset(of, -1),
    "first": on_first,
    "same": on_same,
    "next": lambda of: _on_offset(of, 1),
    "duplicate": on_duplicate,
    "induction": on_induced,
    "punctuation": on_punctuation,
    "rare": on_rarest,
    "agreement": agreement,
    "hits": hits,
    "alignment_error": alignment_error,
    # The token after its first occurrence, that occurrence itself, and the token before the query.
    "random_induction": lambda of: _back(of, lambda n: n - 1),
    "random_duplicate": lambda of: _back(of, lambda n: n),
    "random_previous": lambda of: _back(of, lambda n: 1),
}
_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MEASURES = tuple(Measure(name=name, compute=_COMPUTED[name], **words) for name, words in _WORDS.items())

# Key in `head_scores` -> what such a head is called.
HEAD_NAMES = {measure.name: measure.label for measure in MEASURES if measure.label}


def head_scores(
    pattern: Patterns,
    *,
    cross: bool | None = None,
    tokens: Sequence[object] | None = None,
    counts: Mapping[Any, int | float] | None = None,
    pairs: Pairs | None = None,
    sure: Pairs | None = None,
    repeat: tuple[int, int] | None = None,
) -> dict[str, PerHead]:
    """All measures that are defined for what is given, by their names in `MEASURES`, a float64 per head.

    A query that may attend to nothing (a row of zeros) never counts. What is not defined is absent: distance
    and offsets for cross-attention, shares for a text of one token, duplicates where no token occurs twice.
    `cross` says whether keys are another text than queries; by default they are if their numbers differ.
    tokens: one per key. counts: how often each token occurs in some corpus. pairs: (query, key) positions.
    sure: those pairs that are certain, where others are only possible.
    repeat: (start, n), where the n tokens from start on are random and come again at once.
    Raises ValueError for values outside 0..1, for NaN, for rows that sum to neither 1 nor 0, and for tokens,
    pairs and repetitions that do not fit.
    """
    given = {"tokens": tokens, "counts": counts, "pairs": pairs, "sure": sure, "repeat": repeat}
    of = checked_input(pattern, cross, **given)
    scores = {measure.name: measure.compute(of) for measure in MEASURES}
    return {name: values for name, values in scores.items() if values is not None}


def name_head(scores: Mapping[str, SupportsFloat], *, least: int | float = 0.5) -> str | None:
    """Names one head by its largest share, like `previous-token 0.97`; None if no share reaches `least`."""
    shares = {key: float(scores[key]) for key in HEAD_NAMES if key in scores}
    best = max(shares, key=shares.__getitem__, default=None)
    if best is None or shares[best] < least:
        return None
    return f"{HEAD_NAMES[best]} {shares[best]:.2f}"
