"""What a kind of mask is made of, and how its argument is read; each kind is a file of `masks.kinds`."""

import re
from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Bool, Int
from torch import Tensor

from models.engine.masks.core import Mask
from models.mask_names import MASKS

Part = Callable[[Int[Tensor, "query 1"], Int[Tensor, " key"], int, str], Bool[Tensor, "query key"]]
"""Which of some queries may attend to which of some keys, by their positions, among n tokens."""


class Kind(NamedTuple):
    """make: the mask of n tokens and an argument. part: some queries and keys of it, where it has a rule that
    needs no others; without one, long texts hold the whole. usual: the argument that an empty one stands for
    among n tokens, where that is not the example. least: how many tokens an argument needs, where not one.
    """

    make: Callable[[int, str], Mask]
    part: Part | None = None
    usual: Callable[[int], str] | None = None
    least: Callable[[str], int] | None = None


KINDS: dict[str, Kind] = {}
"""Every kind of mask by its name."""


def register(
    name: str,
    make: Callable[[int, str], Mask],
    *,
    part: Part | None = None,
    usual: Callable[[int], str] | None = None,
    least: Callable[[str], int] | None = None,
) -> None:
    """Enters a kind of mask under the name of its file, whose ABOUT says what pages show of it."""
    KINDS[name] = Kind(make, part, usual, least)


def numbers(name: str, argument: str, count: int | None = None) -> list[int]:
    """The whole numbers of "4.1"; so small that no arithmetic on them overflows. Raises ValueError."""
    parts = argument.split(".")
    if not all(re.fullmatch("[0-9]{1,6}", part) for part in parts) or len(parts) != (count or len(parts)):
        raise ValueError(refusal(name, argument, ".".join("41"[: count or 2])))
    return [int(part) for part in parts]


def refusal(name: str, argument: str, example: str) -> str:
    """The sentence for an argument that cannot be read."""
    return f"argument {argument[:40]!r} of mask {name!r} is not {MASKS[name].rule}; try {example!r}"
