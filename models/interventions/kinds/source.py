"""Defines the change to another text's values, by position (activation patching; Vig et al. 2020)."""

from dataclasses import dataclass

from torch import Tensor

from ..edit import Change, Context, check_texts, read_texts, register, write_texts

EXAMPLE = 'from "another text"'


@register
@dataclass(frozen=True)
class From(Change):
    """What was computed there for another text, which an encoder-decoder reads before the same answer."""

    text: str

    word = "from"
    example = EXAMPLE
    meaning = "what another text in quotes has at the same positions (patching; resampling)"

    def __post_init__(self) -> None:
        check_texts((self.text,), EXAMPLE)

    @classmethod
    def read(cls, words: str) -> "From":
        texts = read_texts(words, EXAMPLE)
        if len(texts) != 1:
            raise ValueError(f"from is followed by {len(texts)} texts; give one, such as {EXAMPLE}")
        return cls(texts[0])

    @property
    def words(self) -> str:
        return write_texts((self.text,))

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.text,)

    @property
    def aligned(self) -> bool:
        return True

    def apply(self, value: Tensor, context: Context) -> Tensor:
        (other,) = context.others
        new = value.clone()
        part = tuple(slice(0, min(size)) for size in zip(value.shape, other.shape, strict=True))
        new[part] = other[part].to(value)
        return new
