"""Which sizes fit together, and the nearest that do among those that a page offers."""

from collections.abc import Sequence
from typing import NamedTuple

from models.config import pairs_channels


class Sizes(NamedTuple):
    """What a person chooses; d_head None is d_model / n_heads."""

    n_heads: int
    d_model: int
    d_head: int | None = None
    positions: str = "sinusoidal"


class Offered(NamedTuple):
    """The values that a page lets people choose, ascending."""

    n_heads: Sequence[int]
    d_model: Sequence[int]
    d_head: Sequence[int] = ()


def check(sizes: Sizes, offered: Offered) -> None:
    """Raises ValueError with the rule and the nearest possible choices on the page, one control moved."""
    if sizes.d_head is None and sizes.d_model % sizes.n_heads:
        problem = f"d_model={sizes.d_model} is not divisible by n_heads={sizes.n_heads}"
        raise ValueError(f"{problem}; try {_remedies(sizes, offered, 'choose d_head')}")
    if not _possible(sizes):
        problem = f"d_head={_d_head(sizes)} is odd, but {sizes.positions} positions turn channels in pairs"
        raise ValueError(f"{problem}; try {_remedies(sizes, offered, 'choose other positions')}")


def _possible(sizes: Sizes) -> bool:
    if sizes.d_head is None and sizes.d_model % sizes.n_heads:
        return False
    return _d_head(sizes) % 2 == 0 or not pairs_channels(sizes.positions)


def _d_head(sizes: Sizes) -> int:
    return sizes.d_model // sizes.n_heads if sizes.d_head is None else sizes.d_head


def _remedies(sizes: Sizes, offered: Offered, otherwise: str) -> str:
    """`n_heads=4 or 6, d_model=64, or ...`: the nearest values of one control that make it possible."""
    moves = []
    for name in ("n_heads", "d_model") if sizes.d_head is None else ("d_head",):
        possible = [v for v in getattr(offered, name) if _possible(sizes._replace(**{name: v}))]
        near = _nearest(getattr(sizes, name), possible)
        if near:
            moves.append(f"{name}={' or '.join(map(str, near))}")
    return ", or ".join(filter(None, [", ".join(moves), otherwise]))


def _nearest(value: int, possible: Sequence[int]) -> list[int]:
    """The nearest below and the nearest above, where there are any."""
    below, above = [p for p in possible if p < value], [p for p in possible if p > value]
    return below[-1:] + above[:1]
