"""Defines changes of whole rows of a pattern: where each query looks."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..edit import Change, Context, only_where_open, open_keys, read_numbers, register, write_numbers


@register
@dataclass(frozen=True)
class Uniform(Change):
    """Every key that a query may look at gets the same weight."""

    word = "uniform"
    places = ("pattern",)
    example = "uniform"
    meaning = "each query looks at all keys alike"

    def apply(self, value: Tensor, context: Context) -> Tensor:
        allowed = open_keys(value, context)
        return allowed.to(value.dtype) / allowed.sum(-1, keepdim=True).clamp(min=1)


@register
@dataclass(frozen=True)
class Identity(Change):
    """Every query looks at itself alone."""

    word = "identity"
    places = ("pattern",)
    example = "identity"
    meaning = "each query looks at itself alone"

    def apply(self, value: Tensor, context: Context) -> Tensor:
        if ".cross" in context.place:
            raise ValueError(
                f"{context.place}: identity needs keys that are the queries, but here another stack's are; "
                "use only"
            )
        itself = torch.eye(value.shape[-1], dtype=value.dtype).expand_as(value)
        return only_where_open(itself, value, context, itself > 0)


@register
@dataclass(frozen=True)
class Only(Change):
    """Every query looks at the same keys alone, at each alike."""

    at: tuple[int, ...]

    word = "only"
    places = ("pattern",)
    example = "only 4"
    meaning = "each query looks only at these keys, at each alike"

    def __post_init__(self) -> None:
        if not self.at:
            raise ValueError("only names no key; write such as only 4")

    @classmethod
    def read(cls, words: str) -> "Only":
        keys = read_numbers(words, "only")
        if keys is None:
            raise ValueError("only all keys is uniform; write uniform")
        return cls(keys)

    @property
    def words(self) -> str:
        return write_numbers(self.at)

    @property
    def keys(self) -> tuple[int, ...]:
        return self.at

    def apply(self, value: Tensor, context: Context) -> Tensor:
        new = torch.zeros_like(value)
        new[..., list(self.at)] = 1 / len(self.at)
        return only_where_open(new, value, context, new > 0)
