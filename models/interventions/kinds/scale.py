"""Defines the change to a multiple of what was computed."""

import math
from dataclasses import dataclass

from torch import Tensor

from ...fields import shortened
from ..edit import Change, Context, register

MOST = 1e6


@register
@dataclass(frozen=True)
class Scale(Change):
    """The value times a number; -1 flips it."""

    by: float

    word = "scale"
    example = "scale -1"
    meaning = "times a number; -1 flips it, 0 is zero"

    def __post_init__(self) -> None:
        if not math.isfinite(self.by) or abs(self.by) > MOST:
            raise ValueError(f"scale {self.by} is no number from -1,000,000 to 1,000,000; give such as -1")

    @classmethod
    def read(cls, words: str) -> "Scale":
        try:
            by = float(words)
        except ValueError:
            raise ValueError(f"scale {shortened(words)!r} is no number; give such as -1 or 0.5") from None
        return cls(by)

    @property
    def words(self) -> str:
        return f"{self.by:.15g}" if float(f"{self.by:.15g}") == self.by else repr(self.by)

    def apply(self, value: Tensor, context: Context) -> Tensor:
        return value * self.by
