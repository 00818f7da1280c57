"""A mask that is painted cell by cell."""

import torch

from ....mask_names import MaskName
from ..core import Mask, Square, causal, register

MAX_PAINTED = 32


ABOUT = MaskName(
    order=10,
    title="painted",
    rule="a row of 0 and 1 for each query, with ; between",
    example="10;11",
    meaning="a row of 0 and 1 for each query; empty: causal",
)


def painted(rows: str) -> Square:
    """The mask that was painted cell by cell: "110;011;111" has one row per query, 1 = may attend.

    Raises ValueError unless there are as many rows of 0 and 1 as cells in each.
    """
    lines = rows.split(";")
    for at, line in enumerate(lines):
        if len(line) != len(lines) or set(line) - {"0", "1"}:
            raise ValueError(
                f"row {at + 1} of the painted mask is {line[:40]!r}, not {len(lines)} cells of 0 or 1; "
                "paint as many cells as there are rows"
            )
    return torch.tensor([[cell == "1" for cell in line] for line in lines])[None, None]


def _make(n: int, argument: str) -> Mask:
    if n > MAX_PAINTED:
        raise ValueError(f"{n} tokens are too many to paint a mask for; give at most {MAX_PAINTED}")
    if (rows := _n_rows(argument)) != n:
        raise ValueError(
            f"the painted mask has {rows} rows for {n} tokens; paint {n}, or give as many tokens"
        )
    return painted(argument)


def _n_rows(argument: str) -> int:
    return argument.count(";") + 1


def _usual(n: int) -> str:
    size = min(n, MAX_PAINTED)
    return ";".join("".join("01"[cell] for cell in row) for row in causal(size, size)[0, 0].tolist())


register("painted", _make, usual=_usual, least=_n_rows, code=painted)
