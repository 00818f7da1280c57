"""One head at several values of a knob: the frames of a strip of small multiples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from models.contrast.contrasted import Laid, laid_heads
from models.contrast.knob import Knob
from models.contrast.paired import paired
from models.contrast.side import Side

Told = Callable[[float], object]
MOST_VALUES = 16
MOST_CELLS = 1_000_000
"""Weights of all frames together: what a browser draws and a message holds."""


@dataclass(frozen=True)
class Frame:
    """A value, and the head there (`laid.b`) beside the head without the knob (`laid.a`); head: its number
    there. Where the value cannot be had, laid is None and said the sentence why.
    """

    value: str
    laid: Laid | None
    head: int
    said: str = ""


@torch.no_grad()
def strip(
    side: Side,
    knob: Knob,
    values: Sequence[str],
    address: str,
    head: int,
    *,
    told: Told = lambda share: None,
) -> list[Frame]:
    """A frame for each value of a knob, of a head by an address such as "encoder.0.self".

    Where a knob changes the number of heads, the head is the one that owns the first channel of the given
    one. told: hears which share is done, and may raise to end it. Raises ValueError for too many values or
    weights, and for a head that is not there.
    """
    reading = side.read()
    whole = f"{address}.pattern"

    def only(at: str, value: Tensor) -> Tensor | None:
        return value if at == whole else None

    trace = side.trace(reading, reduce=only)
    n_heads = len(trace[whole]) if whole in trace else 0
    _check(values, trace[whole].numel() // n_heads if n_heads else 0)
    frames = []
    for at, value in enumerate(values):
        told(at / len(values))
        try:
            other = knob.applied(side, value)
            read = reading if other.reads_like(side) else other.read()
            turned = trace if other is side else other.trace(read, reduce=only)
            n_turned = len(turned[whole]) if whole in turned else 0
            mine = head * n_turned // n_heads if n_heads else head
            aligned, _ = paired((side, other), (reading, read))
            laid = laid_heads(aligned, (trace, turned), (address, head), (address, mine))
            frames.append(Frame(value, laid, mine))
        except ValueError as error:
            frames.append(Frame(value, None, head, f"{error}"))
    told(1.0)
    return frames


def _check(values: Sequence[str], n_cells: int) -> None:
    if not 1 <= len(values) <= MOST_VALUES:
        raise ValueError(f"{len(values)} values: a strip has 1 to {MOST_VALUES}; name so many")
    if len(values) * n_cells > MOST_CELLS:
        raise ValueError(
            f"{len(values)} patterns of {n_cells:,} weights are more than {MOST_CELLS:,} together; give "
            "fewer values, or a shorter text"
        )
