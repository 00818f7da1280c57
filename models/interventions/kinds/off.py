"""A layer that is passed over."""

from dataclasses import dataclass

from torch import Tensor

from models.interventions.edit import Change, Seen, register


@register
@dataclass(frozen=True)
class Off(Change):
    """The stream leaves the layer as it entered."""

    word = "off"
    places = ("layer",)
    example = "off"
    meaning = "the stream leaves the layer as it entered: attention and feed-forward add nothing"

    def apply(self, value: Tensor, seen: Seen) -> Tensor:
        assert seen.entering is not None
        return seen.entering
