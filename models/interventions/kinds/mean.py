"""Defines the change to a mean over positions, of this text or of others (Wang et al. 2022 ablate so)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ...fields import shortened
from ..edit import REFERENCE, Change, Context, check_texts, read_texts, register, write_texts


@register
@dataclass(frozen=True)
class Mean(Change):
    """One mean in the place of every position's value: over this text, or over all positions of `of`.

    of: texts; reference: the model's own ones as well.
    """

    of: tuple[str, ...] = ()
    reference: bool = False

    word = "mean"
    places = ("heads", "stream", "module")
    example = "mean"
    meaning = "the mean over positions of this text, of reference texts, or of texts in quotes"

    def __post_init__(self) -> None:
        if self.of:
            check_texts(self.of, 'mean of "a text" "another"')

    @classmethod
    def read(cls, words: str) -> "Mean":
        if not words:
            return cls()
        of, _, which = words.partition(" ")
        if of != "of" or not which.strip():
            raise ValueError(
                f"mean {shortened(words)!r} says not of what; write mean, mean of reference, or "
                'mean of "a text"'
            )
        if which.strip() == REFERENCE:
            return cls(reference=True)
        return cls(read_texts(which, 'mean of "a text" "another"'))

    @property
    def words(self) -> str:
        if self.reference:
            return f"of {REFERENCE}"
        return f"of {write_texts(self.of)}" if self.of else ""

    @property
    def texts(self) -> tuple[str, ...]:
        return self.of

    @property
    def of_reference(self) -> bool:
        return self.reference

    def apply(self, value: Tensor, context: Context) -> Tensor:
        over = torch.cat(context.others, dim=-2) if context.others else value
        return over.mean(dim=-2, keepdim=True).expand_as(value).contiguous()
