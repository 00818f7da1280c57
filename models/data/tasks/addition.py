"""Adding two numbers as one does by hand: from the last digit to the first."""

import random
import re
from dataclasses import dataclass
from typing import ClassVar

from .algorithmic import SIZES, Algorithmic
from .task import option


@dataclass(frozen=True, kw_only=True)
class Addition(Algorithmic):
    """After `123+989=` the model writes `2111`: 1112 with its last digit first, as a carry goes that way.

    Numbers have `digits` digits, with leading zeros, and the answer has one more.
    """

    name = "addition"
    title = "Add two numbers"
    see = (
        "The answer is written backwards, so that the carry is known: each of its digits looks at two digits "
        "of the question, and at the pair to their right, where the carry comes from."
    )
    digits: int = option(3, "digits of each number", low=1, high=12)
    alphabet: ClassVar[str] = "0123456789+"
    sizes = {**SIZES, "positions": "learned"}
    training = {"steps": 1000, "batch_size": 64, "learning_rate": 3e-3}

    @property
    def longest(self) -> tuple[int, int]:
        return 2 * self.digits + 1, self.digits + 1

    def question(self, rng: random.Random) -> str:
        return "+".join(f"{rng.randrange(10**self.digits):0{self.digits}}" for _ in range(2))

    def answer(self, question: str) -> str:
        total = sum(map(int, question.split("+")))
        return f"{total:0{self.digits + 1}}"[::-1]

    def tidy(self, question: str) -> str:
        """Puts zeros in front where a number is too short."""
        numbers = re.fullmatch("([0-9]+)\\+([0-9]+)", question)
        if not numbers or max(map(len, numbers.groups())) > self.digits:
            example = self._held_out(1)[0]
            raise ValueError(
                f"{question[:40]!r} is no sum of two numbers of at most {self.digits} digits; try {example!r}"
            )
        return "+".join(number.zfill(self.digits) for number in numbers.groups())
