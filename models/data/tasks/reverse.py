"""Defines the task reverse: the answer has the question's letters, from its end."""

import random
import string
from dataclasses import dataclass
from typing import ClassVar

from .algorithmic import Algorithmic
from .task import option

SHORTEST = 3


@dataclass(frozen=True, kw_only=True)
class Reverse(Algorithmic):
    """After `cab=` the model writes `bac`: random letters, 3 to `length` of them."""

    name = "reverse"
    title = "Reverse letters"
    see = "A head looks from the answer back at the question and draws the other diagonal."
    length: int = option(8, "letters of the longest question", low=SHORTEST, high=31)
    alphabet: ClassVar[str] = string.ascii_lowercase[:16]
    training = {"steps": 1000, "batch_size": 64, "learning_rate": 3e-3}

    @property
    def longest(self) -> tuple[int, int]:
        return self.length, self.length

    def question(self, rng: random.Random) -> str:
        return "".join(rng.choices(self.alphabet, k=rng.randint(SHORTEST, self.length)))

    def answer(self, question: str) -> str:
        return question[::-1]
