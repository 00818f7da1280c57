"""What a measure is computed from: checked patterns, and the tokens, counts and pairs that some ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from viz_core._checks import check_rows

Patterns = Float[np.ndarray, "*heads query key"]
PerHead = Float[np.ndarray, "*heads"]
Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Given:
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
        numbers: dict[object, int] = {}
        codes = np.array([numbers.setdefault(token, len(numbers)) for token in self.tokens or ()])
        return np.equal(codes[:, None], codes[None, :])

    def mean(self, values: np.ndarray, counted: np.ndarray | None = None) -> np.ndarray:
        """Mean of `values` [..., query] over the queries that count and attend; 0 where there is none."""
        return mean_over(values, self.attending if counted is None else self.attending & counted)


def given(
    pattern: Patterns,
    cross: bool | None = None,
    tokens: Sequence[object] | None = None,
    counts: Mapping[Any, int | float] | None = None,
    pairs: Pairs | None = None,
    sure: Pairs | None = None,
    repeat: tuple[int, int] | None = None,
) -> Given:
    """Checks everything. Raises ValueError for weights, rows, tokens, pairs or repetitions that cannot be."""
    weights, attending = checked(pattern)
    n_queries, n_keys = weights.shape[-2:]
    if tokens is not None and len(tokens) != n_keys:
        raise ValueError(f"{len(tokens)} tokens for {n_keys} positions; pass one token per position")
    for query, key in (*(pairs or ()), *(sure or ())):
        if not (0 <= query < n_queries and 0 <= key < n_keys):
            raise ValueError(
                f"the pair ({query}, {key}) lies outside {n_queries} queries x {n_keys} keys; "
                "count both from 0, the query first"
            )
    if sure and not set(sure) <= set(pairs or ()):
        raise ValueError("sure has a pair that pairs lacks; every sure pair is a possible one, so give both")
    of_two = is_cross(pattern, cross)
    if repeat is not None:
        _check_repeat(*repeat, n_keys, of_two)
    return Given(weights, attending, of_two, tokens, counts, pairs, sure, repeat)


def _check_repeat(start: int, n: int, n_keys: int, cross: bool) -> None:
    if cross:
        raise ValueError("tokens repeat within one text, but this is cross-attention; leave repeat out")
    if start < 0 or n < 1 or start + 2 * n > n_keys:
        raise ValueError(
            f"{n} tokens twice from position {start} on do not fit {n_keys} positions; count from 0, and "
            "give at least one token"
        )


def checked(pattern: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights [..., query, key], in float32 or better, and which queries attend to anything [..., query]."""
    if pattern.ndim < 2 or 0 in pattern.shape:
        raise ValueError(
            f"pattern has shape {pattern.shape}, but must end in [query, key] and hold something; "
            "index or reshape it first"
        )
    weights = pattern.astype(np.result_type(pattern, np.float32), copy=False)
    return weights, check_rows("pattern", weights) > 0.5


def refuse_cross(pattern: np.ndarray, measure: str) -> None:
    """Raises ValueError for cross-attention, where `measure` is not defined."""
    if is_cross(pattern, None):
        n_query, n_key = pattern.shape[-2:]
        raise ValueError(
            f"{measure} compares positions of one text, but this is cross-attention from {n_query} queries "
            f"to {n_key} keys; use entropy"
        )


def is_cross(pattern: np.ndarray, cross: bool | None) -> bool:
    """Whether keys are another text than queries; unless told, they are if their numbers differ."""
    if cross is None and pattern.ndim >= 2:
        return pattern.shape[-2] != pattern.shape[-1]
    return bool(cross)


def mean_over(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Mean over the last axis of what is counted, in float64; 0 where nothing is."""
    total = (values * counted).sum(-1, dtype=np.float64)
    return np.asarray(total / np.maximum(counted.sum(-1), 1))
