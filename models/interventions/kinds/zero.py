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
    meaning = "zeros; of z, what is left when the head's rows of the output projection are removed"

    def apply(self, value: Tensor, context: Context) -> Tensor:
        return torch.zeros_like(value)
