"""Defines the task reverse: the answer has the question's letters, from its end."""

import random
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import torch

from ...engine.transformer import Transformer
from .algorithmic import BLANK, SIZES, Answering, is_held_out
from .batch import Batch, Reading, Sample, Split
from .task import option

EQUALS = "="
SHORTEST = 3
_LETTERS = string.ascii_lowercase[:16]
_SAMPLES = 4


@dataclass(frozen=True, kw_only=True)
class Reverse(Answering):
    """After `cab=` the model writes `bac`.

    A question has 3 to `length` random letters, and the answer's letters alone are asked.
    """

    name = "reverse"
    title = "Reverse letters"
    see = "A head looks from the answer back at the question and draws the other diagonal."
    length: int = option(8, "letters of the longest question", low=SHORTEST, high=31)
    sizes = SIZES
    training = {"steps": 1000, "batch_size": 64, "learning_rate": 3e-3}
    n_signs = 2

    def required_sizes(self) -> dict[str, Any]:
        """Blanks come last, so nobody sees them: no pad_id."""
        return {"vocab_size": len(self.outputs()), "max_len": 2 * self.length + 1, "pad_id": None}

    def question(self, rng: random.Random) -> str:
        """Any question, held out or not."""
        return "".join(rng.choices(_LETTERS, k=rng.randint(SHORTEST, self.length)))

    def example(self, rng: random.Random, held_out: bool) -> tuple[str, list[int], int]:
        question = self.question(rng)
        return question, self.ids_of([*question, EQUALS, *reversed(question)]), len(question)

    def probe(self) -> Reading:
        """The first held-out question, with its answer; its text is what one types to have it answered."""
        question = next(self._held_out())
        return replace(self.read(question + EQUALS + question[:0:-1]), text=question + EQUALS)

    def read(self, text: str) -> Reading:
        """A question, with its "=" or without; what follows the "=" is read as it stands, wrong or right.

        Blanks between letters are skipped. Raises ValueError for what is no question.
        """
        question, _, answer = "".join(text.split()).partition(EQUALS)
        self.ids_of(question)
        if not 0 < len(question) <= self.length:
            raise ValueError(f"the question has {len(question)} characters; give 1 to {self.length}")
        if len(answer) > len(question):
            raise ValueError(
                f"the answer to {question!r} has {len(answer)} characters; give at most {len(question)}"
            )
        tokens = [*question, EQUALS, *answer]
        return Reading((torch.tensor([self.ids_of(tokens)]),), {"decoder": tokens}, "".join(tokens))

    def parts_of(self, text: str) -> tuple[list[str], list[str]]:
        question, _, begun = text.partition(EQUALS)
        return [*question, EQUALS], list(begun)

    def n_answered(self, question: list[str]) -> int:
        return len(question) - 1

    def outputs(self) -> tuple[str, ...]:
        return (BLANK, EQUALS, *_LETTERS)

    def prompts_of(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        """The question, for the model to answer."""
        read = [self.written(row).partition(EQUALS)[0] for row in batch.inputs[0].tolist()]
        return [question + EQUALS for question in read]

    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """The first held-out questions, answered greedily."""
        return [
            Sample(question + EQUALS, "".join(self.answer_of(model, [*question, EQUALS])), question[::-1])
            for question in islice(self._held_out(), _SAMPLES)
        ]

    def _held_out(self) -> Iterator[str]:
        rng = random.Random(0)
        while True:
            if is_held_out(question := self.question(rng)):
                yield question

    def strange(self, token: str) -> str:
        return f"{token!r} is no character of {self.name!r}; use {_LETTERS}"
