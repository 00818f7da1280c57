"""Defines the change that passes over a layer."""

from dataclasses import dataclass

from torch import Tensor

from ..edit import Change, Context, register


@register
@dataclass(frozen=True)
class Off(Change):
    """The stream leaves the layer as it entered."""

    word = "off"
    places = ("layer",)
    example = "off"
    meaning = "attention and feed-forward add nothing to the stream"

    def apply(self, value: Tensor, context: Context) -> Tensor:
        assert context.entering is not None
        return context.entering
