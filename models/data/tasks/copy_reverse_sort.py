"""Defines the tasks copy, reverse and sort: the answer has the question's letters, in another order."""

import random
import string
from dataclasses import dataclass
from typing import ClassVar

from .algorithmic import SIZES, Algorithmic
from .task import option

SHORTEST = 3


@dataclass(frozen=True, kw_only=True)
class _Letters(Algorithmic):
    """Random letters, 3 to `length` of them."""

    length: int = option(8, "letters of the longest question", low=SHORTEST, high=31)
    alphabet: ClassVar[str] = string.ascii_lowercase[:16]
    training = {"steps": 1000, "batch_size": 64, "learning_rate": 3e-3}

    @property
    def longest(self) -> tuple[int, int]:
        return self.length, self.length

    def question(self, rng: random.Random) -> str:
        return "".join(rng.choices(self.alphabet, k=rng.randint(SHORTEST, self.length)))


@dataclass(frozen=True, kw_only=True)
class Copy(_Letters):
    """After `cab=` the model writes `cab`."""

    name = "copy"
    title = "Copy letters"
    see = "A head looks from each letter of the answer at the next letter of the question."
    sizes = {**SIZES, "positions": "learned"}

    def answer(self, question: str) -> str:
        return question


@dataclass(frozen=True, kw_only=True)
class Reverse(_Letters):
    """After `cab=` the model writes `bac`."""

    name = "reverse"
    title = "Reverse letters"
    see = "A head looks from the answer back at the question and draws the other diagonal."

    def answer(self, question: str) -> str:
        return question[::-1]


@dataclass(frozen=True, kw_only=True)
class Sort(_Letters):
    """After `cab=` the model writes `abc`."""

    name = "sort"
    title = "Sort letters"
    see = "A head looks from each letter of the answer for the next greater one."
    sizes = {
        **SIZES,
        "positions": "none",  # where a letter stands is no matter
        "tied_embeddings": True,
    }
    training = {"steps": 1500, "batch_size": 64, "learning_rate": 3e-3}

    def answer(self, question: str) -> str:
        return "".join(sorted(question))
