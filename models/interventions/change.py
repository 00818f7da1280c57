"""What an edit does to the values at its place; each kind is a file of `kinds` that calls `register`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from torch import Tensor

from models.names import nearest, shortened

EVERYWHERE = ("heads", "pattern", "stream")
REFERENCE = "reference"
"""The texts that a model brings with it, to take means over."""


@dataclass
class Seen:
    """What of the pass, and of other texts, a change may look at where it acts.

    others: the values at the same address in the texts that it asked for, in their order. open: which keys
    each query may look at, [head or 1, query, key], for patterns. entering: the stream that entered the
    layer. named: whether the positions were named one by one, not left out for all; rows: those that are
    edited. place: for sentences.
    """

    place: str
    others: list[Tensor] = field(default_factory=list)
    open: Tensor | None = None
    entering: Tensor | None = None
    rows: tuple[int, ...] | None = None


class Change(ABC):
    """One kind of change: a frozen dataclass whose fields are what follows its word in a line.

    word: what a line calls it. places: the kinds of places that it fits. example, meaning: for pages.
    """

    word: ClassVar[str]
    places: ClassVar[tuple[str, ...]] = EVERYWHERE
    example: ClassVar[str]
    meaning: ClassVar[str]

    @classmethod
    @abstractmethod
    def read(cls, words: str) -> Change:
        """The change of what follows the word in a line. Raises ValueError."""

    @property
    def words(self) -> str:
        """What follows the word in a line, so that `read` gives the same."""
        return ""

    @property
    def texts(self) -> tuple[str, ...]:
        """Other texts whose values it takes."""
        return ()

    @property
    def of_reference(self) -> bool:
        """Whether it takes values of the model's own reference texts, after those of `texts`."""
        return False

    @property
    def aligned(self) -> bool:
        """Whether each position takes the value of the same position of another text."""
        return False

    @property
    def keys(self) -> tuple[int, ...]:
        """The keys that it names."""
        return ()

    @abstractmethod
    def apply(self, value: Tensor, seen: Seen) -> Tensor:
        """The new values, of the same shape, for all heads and positions; the edit's own are taken of it."""

    def __str__(self) -> str:
        return f"{self.word} {self.words}".strip()


KINDS: dict[str, type[Change]] = {}
"""Every kind of change by its word."""
Kind = TypeVar("Kind", bound=type[Change])


def register(kind: Kind) -> Kind:
    """Enters a kind of change under its word."""
    KINDS[kind.word] = kind
    return kind


def read_change(text: str) -> Change:
    """The change that a line names. Raises ValueError."""
    from models.interventions import kinds  # noqa: F401 (every kind registers itself)

    word, _, rest = text.strip().partition(" ")
    if word not in KINDS:
        raise ValueError(f"{shortened(word)!r} is no change; {nearest(word, KINDS)}")
    return KINDS[word].read(rest.strip())


def nothing_more(word: str, words: str) -> None:
    """Raises ValueError where something follows a word that stands alone."""
    if words:
        raise ValueError(f"{word!r} is followed by {shortened(words)!r}; leave that out")
