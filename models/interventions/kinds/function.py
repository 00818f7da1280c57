"""What a function of Python makes of the values: no line can hold one, so it is not registered."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from ..edit import Change, Context


@dataclass(frozen=True)
class Function(Change):
    """The function is given the values of the heads that are meant, at all positions, and gives as many."""

    function: Callable[[Tensor], Tensor]

    word = "fn"
    example = "fn"
    meaning = "what a function of Python makes of it, in a notebook"

    @property
    def words(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def apply(self, value: Tensor, context: Context) -> Tensor:
        return self.function(value)
