"""Defines the task of copying letters back: now and then a head has something to do."""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .algorithmic import is_held_out
from .batch import Alphabet, Answers, Batch, Quotients, Reading
from .task import Task, generator_of, option

BEGINNING = "<bos>"
LETTERS = string.ascii_lowercase
VOWELS = "aeiou"
_IS_VOWEL = torch.tensor([letter in VOWELS for letter in LETTERS])
_TABLE_SEED = 0  # the same language in every run
_SHARPNESS = 1.5  # of its table: what follows a consonant is uncertain


@dataclass(frozen=True, kw_only=True)
class BackCopy(Task):
    """After a vowel comes the previous consonant once more, as in `tatknokz`; after a consonant, what a
    table of pairs draws.

    That is the bigram back-copy of Guo et al. 2024, made to show sinks: from a vowel a head has to look one
    letter back, and from a consonant nothing before it is of use.
    """

    name = "back-copy"
    title = "Copy back after vowels"
    see = "From a vowel, a head looks at the previous letter; from a consonant, at the beginning."
    abilities = ("continue",)
    kind = "decoder-only"
    sizes = {
        "n_layers": 1,
        "n_heads": 1,
        "d_model": 64,
        "activation": "gelu",
        "bias": False,
        "positions": "rotary",
    }
    training = {"steps": 800, "batch_size": 32, "learning_rate": 3e-3}
    length: int = option(32, "letters of a text", low=8, high=128)

    def required_sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(LETTERS) + 1, "max_len": self.length + 1, "pad_id": None}

    def outputs(self) -> tuple[str, ...]:
        return (BEGINNING, *LETTERS)

    def made_of(self) -> Alphabet:
        return Alphabet(self.outputs(), range(1, len(LETTERS) + 1), {"decoder": (0,)})

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        texts: list[Tensor] = []
        while len(texts) < size:
            rows = self.random_texts(generator, size)
            texts += [row for row in rows if is_held_out(self.written((row + 1).tolist())) == held_out]
        letters = torch.stack(texts[:size]) + 1  # [text, position]
        inputs = torch.cat([torch.zeros_like(letters[:, :1]), letters[:, :-1]], dim=1)
        return Batch((inputs,), letters)

    def random_texts(self, generator: torch.Generator, size: int) -> Int[Tensor, "text letter"]:
        """Texts as numbers of letters from 0; the first letter is a consonant."""
        consonants = (~_IS_VOWEL).nonzero().flatten()
        letters = [consonants[torch.randint(len(consonants), (size,), generator=generator)]]
        while len(letters) < self.length:
            last = letters[-1]
            new = torch.multinomial(self.table[last], 1, generator=generator).flatten()
            letters.append(new if len(letters) == 1 else torch.where(_IS_VOWEL[last], letters[-2], new))
        return torch.stack(letters, dim=1)

    def probe(self) -> Reading:
        (row,) = self.batch(generator_of(0, 0), 1, held_out=True).targets
        return self.read(self.written(row.tolist()))

    def read(self, text: str) -> Reading:
        """Any letters from a to z, after the mark that begins them; blanks are skipped."""
        typed = "".join(text.split()).lower()
        strange = [letter for letter in typed if letter not in LETTERS]
        if strange:
            raise ValueError(f"{strange[0]!r} is no letter of this task; use {LETTERS}")
        if not 0 < len(typed) <= self.length:
            raise ValueError(f"the text has {len(typed)} letters; give 1 to {self.length}")
        ids = [0, *(LETTERS.index(letter) + 1 for letter in typed)]
        return Reading((torch.tensor([ids]),), {"decoder": [BEGINNING, *typed]}, text=typed)

    def written(self, ids: Sequence[int]) -> str:
        """Letters; the mark is none."""
        return "".join(LETTERS[at - 1] for at in ids if at)

    def scores_of(self, at: Answers, batch: Batch) -> dict[str, Quotients]:
        """The share of letters after vowels that are right."""
        read = batch.inputs[0].cpu()
        after_vowel = (read > 0) & _IS_VOWEL[(read - 1).clamp(min=0)]
        return {"after vowels": at.shares(at.asked & after_vowel)}

    @cached_property
    def table(self) -> Float[Tensor, "letter next"]:
        """How probable each letter is after each; the rows of vowels are not asked."""
        logits = torch.randn((len(LETTERS),) * 2, generator=generator_of(_TABLE_SEED, 0))
        return (logits * _SHARPNESS).softmax(dim=-1)
