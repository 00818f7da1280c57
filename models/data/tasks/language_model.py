"""Defines language models, which predict the next character or byte pair of a text."""

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import torch
from pydantic import Field
from torch import Tensor

from ...engine.decoding import sample
from ...engine.transformer import Transformer
from ..learnt_tokenizer import MAX_VOCABULARY, LearntTokenizer, lines_of
from ..text_sources import BYTES, GRAMMAR, TEXT_ENDINGS, TEXT_SOURCES, Texts, texts_of
from ..word_tokenizer import Unknown
from .batch import Alphabet, Answers, Batch, Quotients, Reading, Sample, Split, check_room
from .finite import THREE, Finite, OwnFile, cut_pieces
from .task import Task, generator_of, learnt_value, option

_PROBE = 48  # tokens
_PROMPT = 12
_WRITTEN = 160


@dataclass(frozen=True, kw_only=True)
class TextModel(OwnFile, Finite):
    """What every task has that reads one text from the left; a subclass with a name is one."""

    abilities = ("continue",)
    kind = "decoder-only"
    source: str = option(GRAMMAR, "a text by name", choices=TEXT_SOURCES)
    file: str = option("", "a text file instead", file=TEXT_ENDINGS)
    tokens: str = option("characters", "what a token is", choices=("characters", "bpe"))
    vocabulary: int = option(1000, "how many byte pairs, where tokens are bpe", low=256, high=MAX_VOCABULARY)
    length: int = option(64, "tokens that are read at once", low=8, high=1024)
    temperature: float = option(0.8, "how it writes: low is sure, high is wild", low=0.05, high=5.0)

    def required_sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer), "max_len": self.length, "pad_id": None}

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        """Pieces of the text that begin anywhere in their part of it; held-out ones touch each other and come
        once.
        """
        if held_out:
            return super().batch(generator, size, held_out=True)
        _ = self._held_out_ids  # asked first: the shorter part tells whether the text is long enough
        ids = self._training_ids
        first = torch.randint(len(ids) - self.length, (size, 1), generator=generator)
        pieces = ids[first + torch.arange(self.length + 1)].long()  # [piece, position]
        return Batch((pieces[:, :-1],), pieces[:, 1:])

    def count(self, split: Split) -> int:
        """Pieces of `length` tokens that do not overlap."""
        return max(0, (len(self._ids_of(split)) - 1) // self.length)

    def numbered(self, split: Split, numbers: Sequence[int], generator: torch.Generator) -> Batch:
        pieces = cut_pieces(self._ids_of(split), numbers, self.length)
        return Batch((pieces[:, :-1],), pieces[:, 1:])

    def _ids_of(self, split: Split) -> Tensor:
        if split == "test":
            return self._test_ids
        return self._held_out_ids if split == "held out" else self._training_ids

    def sketch(self, size: int) -> Batch:
        """A batch of the held-out tenth: an estimate of time must not wait for all ids of a long text."""
        return self.batch(generator_of(0, 0), size, held_out=True)

    def scores_of(self, at: Answers, batch: Batch) -> dict[str, Quotients]:
        """Bits per character (lower is better): all nats over the characters that they pay for; the share of
        tokens that are likeliest where they stand; and bits per byte of UTF-8, which compares with models of
        other tokens.
        """
        targets, bits = batch.targets.cpu(), at.loss().above / math.log(2)
        characters = self.tokenizer.n_characters[targets].double().sum(dim=1)
        as_bytes = self.source in BYTES and not self.file
        n_bytes = characters if as_bytes else self.tokenizer.n_bytes[targets].double().sum(dim=1)
        per_character, per_byte = Quotients(bits, characters), Quotients(bits, n_bytes)
        return {"bits per character": per_character, "accuracy": at.shares(), "bits per byte": per_byte}

    def probe(self) -> Reading:
        """The beginning of the held-out text."""
        return self.read(self._opening)

    def read(self, text: str) -> Reading:
        """Any text of at most `length` tokens, blanks and line ends as they are typed."""
        ids = self._typed(text)
        check_room(len(ids), self.length)
        unknown = dict.fromkeys(text) if self.tokenizer.unknown_id in ids else {}
        lacks = tuple(Unknown(c) for c in unknown if self.tokenizer.encode(c) == [self.tokenizer.unknown_id])
        labels = [self.tokenizer.labels[id_] for id_ in ids]
        return Reading((torch.tensor([ids]),), {"decoder": labels}, text, unknown=lacks)

    def stretched(self, length: int) -> Task:
        longer = copy(self)  # with what was learnt of the text, such as its tokenizer
        object.__setattr__(longer, "length", length)
        return longer

    def outputs(self) -> tuple[str, ...]:
        return self.tokenizer.labels

    def made_of(self) -> Alphabet:
        names = self.tokenizer.labels
        return Alphabet(names, range(self.tokenizer.n_specials, len(names)), {"decoder": ()})

    def written(self, ids: Sequence[int]) -> str:
        return self.tokenizer.decode(ids)

    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """What the model writes after the first words of the held-out text."""
        prompt = self.tokenizer.decode(self.tokenizer.encode(self._opening)[: min(_PROMPT, self.length // 2)])
        return [Sample(prompt, self.write(model, prompt, seed=seed))]

    @torch.no_grad()
    def write(
        self,
        model: Transformer,
        prompt: str,
        *,
        n_tokens: int = _WRITTEN,
        temperature: float | None = None,
        seed: int = 0,
    ) -> str:
        """What follows `prompt`: tokens drawn at `temperature` (None: the task's), as many as asked for.

        Beyond `length` tokens, the model begins again with the last half of them. Raises ValueError for an
        empty prompt and as `distribution` does.
        """
        device = model.embedding.weight.device
        generator = torch.Generator(device).manual_seed(seed)
        typed = self._typed(prompt)
        ids = torch.tensor([typed], device=device)
        while (missing := len(typed) + n_tokens - ids.shape[1]) > 0:
            context = ids if ids.shape[1] <= self.length // 2 else ids[:, -(self.length // 2) :]
            new = min(missing, self.length - context.shape[1])
            heat = self.temperature if temperature is None else temperature
            rows = sample(model, context, generator=generator, temperature=heat, max_new_tokens=new)
            ids = torch.cat([ids, rows[:, context.shape[1] :]], dim=1)
        return self.tokenizer.decode(ids[0, len(typed) :].tolist())

    def learnt(self) -> dict[str, Any]:
        """The tokenizer, and the words that are watched."""
        return {"tokenizer": self.tokenizer.to_json(), "opening": self._opening}

    def restore(self, learnt: dict[str, Any]) -> None:
        """Raises ValueError for what is no tokenizer, or no text to watch."""
        opening = learnt_value(
            learnt, "opening", Annotated[str, Field(min_length=1, max_length=_PROBE * 400)]
        )
        tokenizer = LearntTokenizer.from_json(learnt.get("tokenizer"))
        self.__dict__.update(tokenizer=tokenizer, _opening=opening)

    @cached_property
    def tokenizer(self) -> LearntTokenizer:
        """Characters are those of the whole text; byte pairs are counted in what is trained on."""
        if self.tokens == "characters":
            return LearntTokenizer.characters(*self._texts)
        return LearntTokenizer.bpe(lines_of(self._texts.training), self.vocabulary)

    @cached_property
    def _texts(self) -> Texts:
        return texts_of(self.source, self.file, tested=self.splits == THREE, encoding=self.how.encoding)

    @cached_property
    def _training_ids(self) -> Tensor:
        """The ids of what is trained on, which only training needs."""
        return self._room_for_length(self._texts.training, "part trained on")

    @cached_property
    def _held_out_ids(self) -> Tensor:
        return self._room_for_length(self._texts.held_out, "held-out tenth")

    @cached_property
    def _test_ids(self) -> Tensor:
        """None in two parts."""
        return self.tokenizer.tensor(self._texts.test)

    def _room_for_length(self, text: str, part: str) -> Tensor:
        """The ids of a part of the text: more than are read at once, or ValueError."""
        ids = self.tokenizer.tensor(text)
        if len(ids) <= self.length:
            raise ValueError(
                f"length={self.length} does not fit the {part} of the text, which has {len(ids):,} "
                f"tokens; take a longer text, or at most {max(len(ids), 9)}"
            )
        return ids

    @cached_property
    def _opening(self) -> str:
        ids = self._held_out_ids[: min(_PROBE, self.length)].tolist()
        return self.tokenizer.decode(ids).rstrip("\N{REPLACEMENT CHARACTER}")

    def _typed(self, text: str) -> list[int]:
        if not text:
            raise ValueError("the text is empty; give at least one character")
        return self.tokenizer.encode(text)


@dataclass(frozen=True, kw_only=True)
class LanguageModel(TextModel):
    """The model writes the next character, or the next byte pair, of any text."""

    name = "language-model"
    title = "Language model"
    see = "First a head learns to look at the previous token; later, others at the start of the word or line."
    see_own = "Look for heads on the previous token, and on the start of a word or line."
    sizes = {
        "n_layers": 4,
        "n_heads": 4,
        "d_model": 128,
        "positions": "learned",
        "activation": "gelu",
        "bias": False,
    }
    training = {"steps": 600, "batch_size": 12, "learning_rate": 2e-3, "warmup_steps": 50}
