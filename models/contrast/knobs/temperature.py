"""Temperature: softmax(scores / T), of every attention."""

from torch import Tensor

from ..knob import Knob, number, unheard, with_editing, words_of
from ..side import Side

COLDEST, HOTTEST = 0.01, 100.0


def _turned(side: Side, value: str) -> Side:
    temperature = float(value)

    def heated(address: str, scores: Tensor) -> Tensor:
        return scores / temperature if address.endswith(".scores") else scores

    return with_editing(side, heated)


KNOB = Knob(
    **words_of("temperature"),
    own=lambda model: "1",
    values=lambda model: ("0.25", "0.5", "0.75", "1", "1.5", "2", "4"),
    read=lambda value: f"{number('temperature', value, COLDEST, HOTTEST):g}",
    why_not=unheard,
    turned=_turned,
)
