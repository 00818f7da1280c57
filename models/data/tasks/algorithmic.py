"""Defines the bases of tasks whose texts are drawn at random, and of those with one right answer."""

import random
import zlib
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from ...engine.decoding import greedy
from ...engine.transformer import Transformer
from .batch import IGNORED, Alphabet, Batch, Reading, Writing
from .task import Task

BLANK = "·"
HELD_OUT_SHARE = 10  # one question in ten
SIZES = {
    "n_layers": 2,
    "n_heads": 4,
    "d_model": 64,
    "positions": "rotary",
    "tied_embeddings": False,  # tied, the character itself is always likely next, and learning takes longer
}


@dataclass(frozen=True, kw_only=True)
class DrawnTexts(Task):
    """A next-token model of texts that are drawn at random, asked for their ends only.

    A subclass draws an `example`. One in ten of what it names them by is held out, the same on every machine.
    """

    kind = "decoder-only"

    @abstractmethod
    def example(self, rng: random.Random, held_out: bool) -> tuple[str, list[int], int]:
        """Any example, held out or not: what it is known by, its ids, and the position asked first."""

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        """Examples of one split, drawn until there are `size`."""
        rng = random_of(generator)
        inputs: list[list[int]] = []
        targets: list[list[int]] = []
        while len(inputs) < size:
            name, ids, first = self.example(rng, held_out)
            if is_held_out(name) == held_out:
                inputs.append(ids[:-1])
                targets.append([IGNORED] * first + ids[first + 1 :])
        return Batch((pad_rows(inputs, 0),), pad_rows(targets, IGNORED))

    def made_of(self) -> Alphabet:
        return Alphabet(self.outputs(), range(self.n_signs, len(self.outputs())), {"decoder": ()})

    n_signs: ClassVar[int] = 1
    """The first outputs, which are no part of a text: blanks, and what parts an answer from its question."""


@dataclass(frozen=True, kw_only=True)
class Answering(DrawnTexts):
    """Such a model of questions with one right answer, whose tokens are asked."""

    abilities = ("answer",)
    between: ClassVar[str] = ""
    """What stands between tokens in a text."""

    @abstractmethod
    def parts_of(self, text: str) -> tuple[list[str], list[str]]:
        """The tokens of a text: its question with what ends it, and its answer as far as it is given."""

    @abstractmethod
    def n_answered(self, question: list[str]) -> int:
        """How many tokens the right answer has."""

    def written(self, ids: Sequence[int]) -> str:
        return self.between.join(self.outputs()[id_] for id_ in ids)

    def writing(self, reading: Reading) -> Writing:
        """As many tokens as the right answer has, whatever stands after the question."""
        question, _ = self.parts_of(reading.text)

        def finished(ids: list[int]) -> Reading:
            return self.with_answer(question, [self.outputs()[id_] for id_ in ids])

        return Writing(tuple(self.ids_of(question)), self.n_answered(question), frozenset(), finished)

    def answered(self, model: Transformer, reading: Reading) -> Reading:
        """The question with as many tokens after it as the right answer has."""
        question, begun = self.parts_of(reading.text)
        return self.with_answer(question, [*begun, *self.answer_of(model, question, begun)])

    def with_answer(self, question: list[str], answer: list[str]) -> Reading:
        """A question and its answer, whose last token is not read again."""
        read = self.read(self.between.join([*question, *answer[: self.n_answered(question) - 1]]))
        return replace(read, answer=self.between.join(answer), following=answer[-1])

    def answer_of(self, model: Transformer, question: list[str], begun: Sequence[str] = ()) -> list[str]:
        """What the model writes, token by token, until the answer is as long as the right one."""
        missing = self.n_answered(question) - len(begun)
        if missing == 0:
            return []
        prefix = torch.tensor([self.ids_of([*question, *begun])], device=model.embedding.weight.device)
        rows = greedy(model, prefix, max_new_tokens=missing)
        return [self.outputs()[id_] for id_ in rows[0, prefix.shape[1] :].tolist()]

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {token: id_ for id_, token in enumerate(self.outputs())}

    def ids_of(self, tokens: Sequence[str]) -> list[int]:
        """Raises ValueError for a token that the task does not know."""
        for token in tokens:
            if token not in self._id_of:
                raise ValueError(self.strange(token))
        return [self._id_of[token] for token in tokens]

    @abstractmethod
    def strange(self, token: str) -> str:
        """The sentence that refuses an unknown token."""


def random_of(generator: torch.Generator) -> random.Random:
    """Python's random numbers, seeded by the next one of the generator."""
    return random.Random(int(torch.randint(1 << 62, (), generator=generator)))


def is_held_out(question: str) -> bool:
    """True for one question in ten, the same ones on every machine and in every run."""
    return zlib.crc32(question.encode()) % HELD_OUT_SHARE == 0


def pad_rows(rows: tuple[list[int], ...] | list[list[int]], filler: int) -> Tensor:
    """[row, position], short rows filled at the end."""
    longest = max(map(len, rows))
    return torch.tensor([row + [filler] * (longest - len(row)) for row in rows])
