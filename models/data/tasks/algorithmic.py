"""The base of tasks with one right answer, written after "=": reverse is `cab=bac`. Characters are tokens."""

import random
import zlib
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor

from models.data.tasks.batch import IGNORED, Alphabet, Batch, Reading, Sample, Split, Writing
from models.data.tasks.task import Task
from models.engine.decoding import greedy
from models.engine.transformer import Transformer

BLANK = "·"
EQUALS = "="
HELD_OUT_SHARE = 10  # one question in ten
SIZES = {
    "n_layers": 2,
    "n_heads": 4,
    "d_model": 64,
    "positions": "rotary",
    "tied_embeddings": False,  # tied, the character itself is always likely next, and learning takes longer
}
_SAMPLES = 4


@dataclass(frozen=True, kw_only=True)
class Algorithmic(Task):
    """A next-character model of `question=answer`, asked for the answer's characters only.

    A subclass says what `question` and `answer` are, how many characters the `longest` of them have, and
    which characters they are made of, its `alphabet`.
    """

    kind = "decoder-only"
    abilities = ("answer",)
    alphabet: ClassVar[str]
    sizes = SIZES
    training = {"steps": 800, "batch_size": 64, "learning_rate": 3e-3}

    @property
    @abstractmethod
    def longest(self) -> tuple[int, int]:
        """Characters of the longest question, and of its answer."""

    @abstractmethod
    def question(self, rng: random.Random) -> str:
        """Any question, held out or not."""

    @abstractmethod
    def answer(self, question: str) -> str:
        """The one right answer. Raises ValueError for what is no question."""

    def dictates(self) -> dict[str, Any]:
        """Blanks come last, so nobody sees them: no pad_id."""
        return {"vocab_size": len(self.outputs()), "max_len": sum(self.longest) + 1, "pad_id": None}

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        """Questions of one split, drawn until there are `size`."""
        rng = random_of(generator)
        rows: list[tuple[list[int], list[int]]] = []
        while len(rows) < size:
            question = self.question(rng)
            if is_held_out(question) == held_out:
                rows.append(self._row(question, self.answer(question)))
        return self._batch(rows)

    def probe(self) -> Reading:
        """The first held-out question, with its answer; its text is what one types to have it answered."""
        question = self._held_out(1)[0]
        reading = self.read(question + EQUALS + self.answer(question)[:-1])
        return replace(reading, text=question + EQUALS)

    def read(self, text: str) -> Reading:
        """A question, with its "=" or without; what follows the "=" is read as it stands, wrong or right.

        Blanks between characters are skipped. Raises ValueError for what is no question.
        """
        question, _, answer = "".join(text.split()).partition(EQUALS)
        question = self.tidy(question)
        if len(answer) > len(self.answer(question)):
            raise ValueError(
                f"the answer to {question!r} has {len(answer)} characters; "
                f"give at most {len(self.answer(question))}"
            )
        ids = self._ids(question + EQUALS + answer)
        labels = [self.outputs()[id_] for id_ in ids]
        return Reading((torch.tensor([ids]),), {"decoder": labels}, question + EQUALS + answer)

    def writing(self, reading: Reading) -> Writing:
        """All characters after the "=", whatever stands there."""
        question, _, _ = reading.text.partition(EQUALS)
        n = len(self.answer(question))
        begun = tuple(self._ids(question + EQUALS))
        return Writing(begun, n, frozenset(), lambda ids: self._with_answer(question, self.written(ids)))

    def answered(self, model: Transformer, reading: Reading) -> Reading:
        """The question with as many characters after it as the right answer has."""
        question, _, begun = reading.text.partition(EQUALS)
        return self._with_answer(question, begun + self._written(model, question, begun))

    def _with_answer(self, question: str, answer: str) -> Reading:
        """A question and its answer, whose last character is not read again."""
        read = self.read(question + EQUALS + answer[: len(self.answer(question)) - 1])
        return replace(read, answer=answer, following=answer[-1])

    def written(self, ids: Sequence[int]) -> str:
        return "".join(self.outputs()[id_] for id_ in ids)

    def tidy(self, question: str) -> str:
        """A typed question as training writes it. Raises ValueError for one that training never writes."""
        self._ids(question)
        limit = self.longest[0]
        if not 0 < len(question) <= limit:
            raise ValueError(f"the question has {len(question)} characters; give 1 to {limit}")
        return question

    def outputs(self) -> tuple[str, ...]:
        return (BLANK, EQUALS, *self.alphabet)

    def made_of(self) -> Alphabet:
        return Alphabet(self.outputs(), range(2, len(self.outputs())), {"decoder": ()})

    def typed(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        """The question, for the model to answer."""
        read = [self.written(row).partition(EQUALS)[0] for row in batch.inputs[0].tolist()]
        return [question + EQUALS for question in read]

    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """The first held-out questions, answered greedily."""
        return [
            Sample(question + EQUALS, self._written(model, question), self.answer(question))
            for question in self._held_out(_SAMPLES)
        ]

    def _written(self, model: Transformer, question: str, begun: str = "") -> str:
        """What the model writes, character by character, until the answer is as long as the right one."""
        missing = len(self.answer(question)) - len(begun)
        if missing == 0:
            return ""
        prefix = torch.tensor([self._ids(question + EQUALS + begun)], device=model.embedding.weight.device)
        rows = greedy(model, prefix, max_new_tokens=missing)
        return self.written(rows[0, prefix.shape[1] :].tolist())

    def _held_out(self, count: int) -> list[str]:
        rng = random.Random(0)
        found: list[str] = []
        while len(found) < count:
            question = self.question(rng)
            if is_held_out(question):
                found.append(question)
        return found

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {character: id_ for id_, character in enumerate(self.outputs())}

    def _ids(self, text: str) -> list[int]:
        strange = [character for character in text if character not in self._id_of]
        if strange:
            raise ValueError(f"{strange[0]!r} is no character of {self.name!r}; use {self.alphabet}")
        return [self._id_of[character] for character in text]

    def _row(self, question: str, answer: str) -> tuple[list[int], list[int]]:
        """What is read, and what is asked at each position of it."""
        ids = self._ids(question + EQUALS + answer)
        return ids[:-1], [IGNORED] * len(question) + ids[len(question) + 1 :]

    def _batch(self, rows: list[tuple[list[int], list[int]]]) -> Batch:
        inputs, targets = zip(*rows, strict=True)
        return Batch((padded(inputs, 0),), padded(targets, IGNORED))


def random_of(generator: torch.Generator) -> random.Random:
    """Python's random numbers, seeded by the next one of the generator."""
    return random.Random(int(torch.randint(1 << 62, (), generator=generator)))


def is_held_out(question: str) -> bool:
    """True for one question in ten, the same ones on every machine and in every run."""
    return zlib.crc32(question.encode()) % HELD_OUT_SHARE == 0


def padded(rows: tuple[list[int], ...] | list[list[int]], filler: int) -> Tensor:
    """[row, position], short rows filled at the end."""
    longest = max(map(len, rows))
    return torch.tensor([row + [filler] * (longest - len(row)) for row in rows])
