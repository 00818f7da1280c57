"""The checks of every figure's and measure's input; each error says the value, the rule and the remedy."""

from collections.abc import Sequence

import numpy as np

from .labels import tick_labels

MAX_TOKENS = 2048
# Sums of half-precision rows stray this far from 1.
TOLERANCE = 0.02


def check_axes(name: str, array: np.ndarray, *allowed: str) -> None:
    """Raise unless `array` has as many axes as one of `allowed`, each written like `"head query key"`."""
    if array.ndim not in {len(axes.split()) for axes in allowed}:
        shapes = " or ".join(f"[{', '.join(axes.split())}]" for axes in allowed)
        raise ValueError(f"{name} has shape {array.shape}, but must be {shapes}; index or reshape it first")
    if 0 in array.shape:
        raise ValueError(f"{name} has shape {array.shape}, but no axis may be empty; pass at least one entry")


def check_patterns(pattern: np.ndarray) -> None:
    """Raise unless `pattern` ends in [query, key] and holds something."""
    if pattern.ndim < 2 or 0 in pattern.shape:
        raise ValueError(
            f"pattern has shape {pattern.shape}, but must end in [query, key] and hold something; "
            "index or reshape it first"
        )


def check_frames(name: str, array: np.ndarray, axes: str) -> None:
    """Raise unless `array` has these axes, with or without one more for the frame before them."""
    check_axes(name, array, axes if array.ndim == len(axes.split()) else f"frame {axes}")


def check_length(name: str, entries: Sequence[object], count: int, *, needed: bool = False) -> None:
    """Raise unless there are `count` entries; no entries are allowed, too, unless `needed`."""
    if (needed or len(entries)) and len(entries) != count:
        raise ValueError(f"{name} has {len(entries)} entries where there are {count}; give one each")


def check_finite(name: str, array: np.ndarray) -> None:
    """Raise if `array` holds NaN or an infinity."""
    bad = int(np.size(array) - np.count_nonzero(np.isfinite(array)))
    if bad:
        raise ValueError(
            f"{name} holds {bad} values that are NaN or infinite; all must be finite: find where they arise"
        )


def check_weights(name: str, array: np.ndarray) -> None:
    """Raise unless all values are finite and within 0..1, as weights and probabilities are."""
    check_finite(name, array)
    low, high = float(array.min()), float(array.max())
    if low < -TOLERANCE or high > 1 + TOLERANCE:
        raise ValueError(
            f"{name} has values from {low:.4g} to {high:.4g}, but must lie in 0..1; "
            "pass what softmax gives, not the scores"
        )


def check_rows(pattern: np.ndarray) -> np.ndarray:
    """Row sums [..., query]; raise unless each row sums to 1, or to 0 where everything was masked."""
    sums = pattern.sum(-1)
    # A row with a NaN or an infinity has no finite sum; weights >= 0 that sum to 1 are all below 1.
    if not np.isfinite(sums).all() or float(pattern.min()) < -TOLERANCE:
        check_weights("pattern", pattern)
    wrong = (np.abs(sums - 1) > TOLERANCE) & (np.abs(sums) > TOLERANCE)
    if wrong.any():
        raise ValueError(
            f"pattern has a row that sums to {sums[wrong].flat[0]:.4g}, but rows sum to 1 (0 if all is "
            "masked); pass the pattern without dropout, with queries as rows"
        )
    return sums


def check_labels(axis: str, tokens: Sequence[str], length: int) -> list[str]:
    """Tick labels for `tokens`; raise unless there is one per position, `length` in all, and not too many."""
    if length > MAX_TOKENS:
        raise ValueError(
            f"{length} {axis} positions are more than the {MAX_TOKENS} a figure holds; cut the text"
        )
    labels = tick_labels(tokens)
    if len(labels) != length:
        raise ValueError(
            f"{len(labels)} {axis} tokens for {length} {axis} positions; pass one token per position"
            + (" (key_tokens, if keys are another text)" if axis == "key" else "")
        )
    return labels


def check_index(name: str, index: int, length: int) -> None:
    """Raise unless 0 <= index < length."""
    if not 0 <= index < length:
        raise ValueError(f"{name}={index} is out of range; choose 0 to {length - 1}")
