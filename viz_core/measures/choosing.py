"""Sums and means over the heads, queries and keys that one chooses."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import Float

from viz_core._checks import check_index
from viz_core.measures.given import Patterns, PerHead, checked, mean_over

How = Literal["mean", "sum"]


def over_heads(
    patterns: Patterns, heads: Sequence[tuple[int, ...]] | None = None, *, how: How = "mean"
) -> Float[np.ndarray, "query key"]:
    """One matrix from the chosen heads: their mean, whose rows sum to 1 again, or their sum.

    heads: an index each, (layer, head) for patterns [layer, head, query, key] or (head,) for
    [head, query, key]; all without it. A mean leaves out, row by row, heads whose query attends to nothing.
    """
    _check_how(how)
    weights, attending = checked(patterns)
    leading = weights.shape[:-2]
    if heads is not None:
        for head in heads:
            _check_head(head, leading)
        chosen = tuple(np.array(heads, dtype=int).reshape(len(heads), len(leading)).T)
        weights, attending = weights[chosen], attending[chosen]
    weights = weights.reshape(-1, *weights.shape[-2:])  # [chosen, query, key]
    attending = attending.reshape(-1, attending.shape[-1])
    if not len(weights):
        raise ValueError("no head is chosen; choose at least one")
    total = weights.sum(0, dtype=np.float64)
    return np.asarray(total if how == "sum" else total / np.maximum(attending.sum(0), 1)[:, None])


def over_queries(
    patterns: Patterns, queries: Sequence[int], *, how: How = "mean"
) -> Float[np.ndarray, "*heads key"]:
    """The weight that each key gets from the chosen queries, per head: what they look at together.

    A mean leaves out queries that attend to nothing. Raises ValueError for none, and for one out of range.
    """
    _check_how(how)
    weights, attending = checked(patterns)
    _check_positions("query", queries, weights.shape[-2])
    chosen = list(queries)
    if how == "sum":
        return np.asarray(weights[..., chosen, :].sum(-2, dtype=np.float64))
    return mean_over(weights[..., chosen, :].swapaxes(-1, -2), attending[..., None, chosen])


def over_keys(
    patterns: Patterns, keys: Sequence[int], *, how: How = "sum"
) -> Float[np.ndarray, "*heads query"]:
    """The weight that each query gives to the chosen keys, per head: together, or each of them on average."""
    _check_how(how)
    weights, _ = checked(patterns)
    _check_positions("key", keys, weights.shape[-1])
    total = weights[..., list(keys)].sum(-1, dtype=np.float64)
    return np.asarray(total / len(keys) if how == "mean" else total)


def between(patterns: Patterns, queries: Sequence[int], keys: Sequence[int]) -> PerHead:
    """The weight on the chosen keys together, in the mean of the chosen queries that attend to anything."""
    _check_positions("key", keys, patterns.shape[-1])
    return np.asarray(over_queries(patterns, queries)[..., list(keys)].sum(-1))


def _check_how(how: str) -> None:
    if how not in ("mean", "sum"):
        raise ValueError(f'how="{how}" is unknown; choose "mean" or "sum"')


def _check_head(head: tuple[int, ...], leading: tuple[int, ...]) -> None:
    if len(head) != len(leading) or not all(0 <= at < n for at, n in zip(head, leading, strict=True)):
        raise ValueError(
            f"head {head} is none of {' x '.join(str(n) for n in leading) or 'one matrix'}; "
            "give an index for each axis before [query, key], from 0"
        )


def _check_positions(name: str, chosen: Sequence[int], length: int) -> None:
    if not len(chosen) or len(set(chosen)) < len(chosen):
        raise ValueError(f"{name} positions {list(chosen)} are none, or one twice; choose each once")
    for position in chosen:
        check_index(name, position, length)
