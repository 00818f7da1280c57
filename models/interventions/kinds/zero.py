"""Defines the change to zero."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..edit import Change, Context, register


@register
@dataclass(frozen=True)
class Zero(Change):
    """All zeros."""

    word = "zero"
    example = "zero"
    meaning = "zeros; z of 0 removes the head"

    def apply(self, value: Tensor, context: Context) -> Tensor:
        return torch.zeros_like(value)
