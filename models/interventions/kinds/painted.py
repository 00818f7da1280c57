"""Defines the change of a pattern's cells by hand, with the rest of the row renormalised or not."""

import re
from dataclasses import dataclass

import torch
from torch import Tensor

from ...fields import shortened
from ..edit import Change, Context, only_where_open, open_keys, register

EXAMPLE = "set 4=0.8 renormalised"
SLACK = 1e-6


@register
@dataclass(frozen=True)
class Set(Change):
    """Weights of some keys, by key; the other keys keep theirs, or share what is left as they did before.

    renormalised: the others are multiplied by one number, so that the row sums to what it did; where they
    had nothing to multiply, they get equal parts of what is left.
    """

    weights: tuple[tuple[int, float], ...]
    renormalised: bool = False

    word = "set"
    places = ("pattern",)
    example = EXAMPLE
    meaning = "weights of some keys by hand; renormalised, the others share the rest as before"

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(sorted(self.weights)))
        keys = [key for key, _ in self.weights]
        if not keys or len(set(keys)) < len(keys):
            raise ValueError(f"set names {'no key' if not keys else 'a key twice'}; write such as {EXAMPLE}")
        for key, weight in self.weights:
            if not 0 <= weight <= 1:  # not a number either
                raise ValueError(
                    f"the weight {weight} of key {key} is not from 0 to 1; give such as {EXAMPLE}"
                )
        total = sum(weight for _, weight in self.weights)
        if self.renormalised and total > 1 + SLACK:
            raise ValueError(
                f"the weights of a renormalised row sum to {total:.6g}; give at most 1, or "
                "leave renormalised out"
            )

    @classmethod
    def read(cls, words: str) -> "Set":
        parts = words.split()
        renormalised = bool(parts) and parts[-1] == "renormalised"
        cells = [_cell(part) for part in (parts[:-1] if renormalised else parts)]
        return cls(tuple(cells), renormalised)

    @property
    def words(self) -> str:
        cells = " ".join(f"{key}={weight!r}" for key, weight in self.weights)
        return f"{cells} renormalised" if self.renormalised else cells

    @property
    def keys(self) -> tuple[int, ...]:
        return tuple(key for key, _ in self.weights)

    def apply(self, value: Tensor, context: Context) -> Tensor:
        mine = torch.zeros(value.shape[-1], dtype=torch.bool)
        new = value.clone()
        for key, weight in self.weights:
            mine[key] = True
            new[..., key] = weight
        if self.renormalised:
            others = (open_keys(value, context) & ~mine).to(value.dtype)
            before, alike = value * others, others / others.sum(-1, keepdim=True).clamp(min=1)
            rest = (value.sum(-1, keepdim=True) - new[..., mine].sum(-1, keepdim=True)).clamp(min=0)
            had = before.sum(-1, keepdim=True)
            shared = torch.where(had > 0, before / had.clamp(min=torch.finfo(value.dtype).tiny), alike)
            new = torch.where(mine, new, shared * rest)
        return only_where_open(new, value, context, mine.expand_as(value))


def _cell(part: str) -> tuple[int, float]:
    match = re.fullmatch(r"([0-9]{1,5})=(\S+)", part)
    try:
        return int(match[1]), float(match[2])  # type: ignore[index]
    except (TypeError, ValueError):
        raise ValueError(f"{shortened(part)!r} is no key with its weight; write such as {EXAMPLE}") from None
