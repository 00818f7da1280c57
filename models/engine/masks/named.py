"""Masks by name and argument, as a link or a page asks for them."""

import re
from collections.abc import Callable

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from models.engine.masks import patterns
from models.engine.masks.core import Mask, causal, padding
from models.mask_names import MASKS

MAX_PAINTED = 32


def named(name: str, argument: str, n: int) -> Bool[Tensor, "1 1 n n"]:
    """The mask `name` of n tokens, such as named("window", "3", 8); "causal+window" hides later keys as well.

    An empty argument stands for the usual one. Raises ValueError for an unknown name, and for an argument
    that does not fit the mask or the number of tokens.
    """
    kind = kind_of(name)
    if argument and not MASKS[kind].rule:
        raise ValueError(f"mask {name!r} takes no argument, but got {argument[:40]!r}; leave it out")
    allowed = _MAKERS[kind](n, argument or usual(kind, n))
    return (allowed if kind == name else allowed & causal(n, n)).expand(1, 1, n, n)


def usual(kind: str, n: int) -> str:
    """The argument that an empty one stands for, among n tokens."""
    if kind == "edges":
        return " ".join(f"{node}-{node + 1}" for node in range(n - 1))
    if kind == "painted":
        return _rows_of(causal(min(n, MAX_PAINTED), min(n, MAX_PAINTED)))
    return MASKS[kind].example


def check_fits(name: str, argument: str, max_len: int) -> None:
    """Raises ValueError, as `named` does, where no text of at most `max_len` tokens can have this mask."""
    kind = kind_of(name)
    least = _LEAST[kind](argument) if argument and kind in _LEAST else 1
    if least > max_len:
        raise ValueError(
            f"argument {argument[:40]!r} of mask {name!r} needs {least} tokens, but max_len={max_len}; "
            f"try max_len={least}, or an argument for fewer tokens"
        )
    named(name, argument, least)


def kind_of(name: str) -> str:
    """The name without "causal+". Raises ValueError where no mask is called so."""
    kind = name.removeprefix("causal+")
    if kind not in MASKS:
        known = ", ".join(MASKS)
        raise ValueError(f"mask={name!r} is unknown; choose one of {known}, or causal+ one of them")
    return kind


def _numbers(name: str, argument: str, count: int | None = None) -> list[int]:
    """The whole numbers of "4.1"; so small that no arithmetic on them overflows."""
    parts = argument.split(".")
    if not all(re.fullmatch("[0-9]{1,6}", part) for part in parts) or len(parts) != (count or len(parts)):
        raise ValueError(_refusal(name, argument, ".".join("41"[: count or 2])))
    return [int(part) for part in parts]


def _edges(argument: str) -> list[tuple[int, int]]:
    pairs = [re.fullmatch("([0-9]{1,6})-([0-9]{1,6})", part) for part in argument.split()]
    if not all(pairs):
        raise ValueError(_refusal("edges", argument, "0-1 1-2"))
    return [(int(pair[1]), int(pair[2])) for pair in pairs if pair]


def _painted(n: int, argument: str) -> Mask:
    if n > MAX_PAINTED:
        raise ValueError(f"{n} tokens are too many to paint a mask for; give at most {MAX_PAINTED}")
    if (rows := _n_rows(argument)) != n:
        raise ValueError(
            f"the painted mask has {rows} rows, but there are {n} tokens; paint {n}, or give as many tokens"
        )
    return patterns.painted(argument)


def _n_rows(argument: str) -> int:
    return argument.count(";") + 1


def _document_of(n: int, lengths: list[int]) -> Int[Tensor, "n"]:
    """Which document each token is in; what the lengths leave over is one more document."""
    if 0 in lengths:
        raise ValueError("a document of 0 tokens does not exist; give lengths of at least 1")
    return torch.bucketize(torch.arange(n), torch.tensor(lengths).cumsum(0), right=True)


def _refusal(name: str, argument: str, example: str) -> str:
    holds = MASKS[name].rule
    return f"argument {argument[:40]!r} of mask {name!r} is not {holds}; try {example!r}"


def _rows_of(mask: Mask) -> str:
    return ";".join("".join("01"[cell] for cell in row) for row in mask[0, 0].tolist())


_MAKERS: dict[str, Callable[[int, str], Mask]] = {
    "none": lambda n, _: torch.ones(1, 1, n, n, dtype=torch.bool),
    "causal": lambda n, _: causal(n, n),
    "padding": lambda n, a: padding((torch.arange(n) < n - _numbers("padding", a, 1)[0]).long()[None], 0),
    "window": lambda n, a: patterns.sliding_window(n, *_numbers("window", a, 1), two_sided=True),
    "strided": lambda n, a: patterns.strided(n, *_numbers("strided", a, 1)),
    "fixed": lambda n, a: patterns.fixed(n, *_numbers("fixed", a, 2)),
    "prefix": lambda n, a: patterns.prefix(n, *_numbers("prefix", a, 1)),
    "packed": lambda n, a: patterns.packed(_document_of(n, _numbers("packed", a))),
    "memory": lambda n, a: patterns.memory(n, *_numbers("memory", a, 2)),
    "edges": lambda n, a: patterns.edges(n, _edges(a)),
    "painted": _painted,
}
_LEAST = {
    "edges": lambda a: 1 + max((max(pair) for pair in _edges(a)), default=0),
    "painted": lambda a: _n_rows(a),
}
"""How many tokens it takes for an argument to fit, where that is more than one."""
