"""Masks of long texts, a few queries and keys at a time: no n x n booleans are ever in memory."""

from collections.abc import Callable

import torch
from jaxtyping import Bool
from torch import Tensor

from models.engine.masks.kind import KINDS
from models.engine.masks.named import argument_of, kind_of, named

Allowed = Callable[[slice, slice], Bool[Tensor, "_ _ key"]]
"""Which of some queries may attend to which of some keys: [head or 1, query or 1, key]."""


def in_parts(name: str, argument: str, n: int) -> Allowed:
    """The mask `named(name, argument, n)` in parts; one without a rule is made whole, which ends where whole
    masks do. Raises ValueError as `named` does.
    """
    kind = kind_of(name)
    part, given = KINDS[kind].part, argument_of(name, argument, n)
    if part is None:
        return of_tensor(named(name, argument, n)[0])

    def allowed(rows: slice, keys: slice) -> Tensor:
        query, key = torch.arange(rows.start, rows.stop)[:, None], torch.arange(keys.start, keys.stop)
        found = part(query, key, n, given)
        return (found if kind == name else found & (key <= query))[None]

    allowed(slice(0, 1), slice(0, 1))  # what is wrong with the argument is said at once
    return allowed


def check_fits(name: str, argument: str, max_len: int) -> None:
    """Raises ValueError, as `named` does, where no text of at most `max_len` tokens can have this mask."""
    kind = kind_of(name)
    needed = KINDS[kind].least
    least = needed(argument) if argument and needed else 1
    if least > max_len:
        raise ValueError(
            f"argument {argument[:40]!r} of mask {name!r} needs {least} tokens, but max_len={max_len}; "
            f"try max_len={least}, or an argument for fewer tokens"
        )
    in_parts(name, argument, least)


def of_tensor(mask: Bool[Tensor, "_ _ key"]) -> Allowed:
    """Parts of a mask that is there as a whole, [head or 1, query or 1, key]."""
    return lambda rows, keys: (mask if mask.shape[1] == 1 else mask[:, rows])[:, :, keys]


def both(*parts: Allowed | None) -> Allowed | None:
    """Allowed where every one allows it; None allows everything."""
    given = [part for part in parts if part is not None]
    if len(given) < 2:
        return given[0] if given else None

    def allowed(rows: slice, keys: slice) -> Tensor:
        found = given[0](rows, keys)
        for part in given[1:]:
            found = found & part(rows, keys)
        return found

    return allowed
