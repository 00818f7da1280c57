"""Defines the prediction of the next word in the grammar's English, also beyond training's lengths."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from ...engine.transformer import Transformer
from ..grammar.pairs import COUNTED_SENTENCES, english_text, kept_counts, kept_vocabulary
from ..word_tokenizer import EOS, SPECIALS, WordTokenizer
from .batch import Alphabet, Answers, Batch, Quotients, Rarity, Reading
from .task import Task, generator_of, learnt_value, option

_SHOWN = "the animal did not cross the street because it was too tired"


@dataclass(frozen=True, kw_only=True)
class NextWord(Task):
    """The model reads windows of one endless text; <eos> ends each sentence.

    A model whose positions `reach` further than training's `length` may be asked for more words.
    """

    name = "next-word"
    title = "Next word"
    see = "A head looks at the previous word; another, from a verb or pronoun, at its noun."
    kind = "decoder-only"
    abilities = ("continue",)
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 48}
    training = {"steps": 600, "batch_size": 64, "learning_rate": 3e-3, "warmup_steps": 60}
    length: int = option(32, "words of a training window", low=8, high=512)
    reach: int = option(128, "words that its positions reach", low=8, high=1024)
    words: int = option(200_000, "words of the training text", low=10_000, high=5_000_000)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reach < self.length:
            raise ValueError(f"reach={self.reach} is below length={self.length}; try reach={self.length}")

    def required_sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer), "max_len": self.reach, "pad_id": None}

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        """Training has `length` words in one piece; held-out texts have all that the positions reach."""
        text, n_words = (self._held_out, self.reach) if held_out else (self._text, self.length)
        return _windows(text, n_words, generator, size)

    def sketch(self, size: int) -> Batch:
        """Windows of the held-out text, which is short: words are made one after another."""
        return _windows(self._held_out, self.length, generator_of(0, 0), size)

    def scores_of(self, at: Answers, batch: Batch) -> dict[str, Quotients]:
        """Mean loss (nats a word) in training's positions, in the next as many, and in the rest."""
        n = at.nats.shape[1]
        spans = pairwise(sorted({0, min(self.length, n), min(2 * self.length, n), n}))
        place = torch.arange(n)
        return {f"positions {a + 1} to {b}": at.loss(at.asked & (place >= a) & (place < b)) for a, b in spans}

    @torch.no_grad()
    def nats(self, model: Transformer, texts: Int[Tensor, "text word"]) -> Float[Tensor, "text predicted"]:
        """-ln of the probability of words 2, 3, ..., each given all before it.

        Raises ValueError where the positions end before the text does.
        """
        read, reach = texts.shape[1] - 1, model.config.max_len
        if read > reach:
            raise ValueError(
                f"{read} words, but positions={model.config.positions!r} end at {reach}; "
                f"ask for at most {reach}"
            )
        logits = model(texts[:, :-1]).float()  # [text, predicted, vocab]
        losses = cross_entropy(logits.flatten(0, 1), texts[:, 1:].flatten(), reduction="none")
        return losses.view(len(texts), read)

    def probe(self) -> Reading:
        return self.read(_SHOWN)

    def read(self, text: str) -> Reading:
        """<eos>, which ends the sentence before, and the words of `text`.

        Raises ValueError for a text without words, with words never trained, or longer than in training.
        """
        words = self.tokenizer.encode(text)
        if not words.ids:
            raise ValueError("the text is empty; give at least one word")
        if words.unknown:
            word, known = words.unknown[0], len(self.tokenizer) - len(SPECIALS)
            near = f"near it are {', '.join(word.suggestions)}" if word.suggestions else "choose another"
            raise ValueError(f"{word.text!r} is none of the {known} words that this model knows; {near}")
        limit = self.length - 1  # <eos> has the first position
        if len(words.ids) > limit:
            raise ValueError(
                f"the text has {len(words.ids):,} words, but training had at most {limit}; "
                f"remove {len(words.ids) - limit:,}"
            )
        ids = torch.tensor([[EOS, *words.ids]])
        return Reading((ids,), {"decoder": [SPECIALS[EOS], *words.tokens]}, text)

    def outputs(self) -> tuple[str, ...]:
        return tuple(self.tokenizer.vocabulary)

    def made_of(self) -> Alphabet:
        names = self.outputs()
        return Alphabet(names, range(len(SPECIALS), len(names)), {"decoder": (EOS,)}, length=self.length)

    def rarity(self) -> Rarity:
        where = f"{COUNTED_SENTENCES:,} of its training sentences"
        return Rarity.counted(kept_counts().english, SPECIALS, where)

    def written(self, ids: Sequence[int]) -> str:
        """The first sentence that was written, as it joins a text."""
        ended = ids[: ids.index(EOS)] if EOS in ids else ids
        text = self.tokenizer.decode(ended)
        return f" {text}" if text[:1].isalnum() else text

    def held_out_texts(self, n_texts: int, n_words: int, seed: int) -> Int[Tensor, "text word"]:
        """Held-out text, cut into pieces that begin and end where they happen to; the same for a seed."""
        return self._ids(english_text(seed, "held out", n_texts * n_words)).view(n_texts, n_words)

    def learnt(self) -> dict[str, Any]:
        return {"words": self.tokenizer.vocabulary}

    def restore(self, learnt: dict[str, Any]) -> None:
        """Raises ValueError for what is no list of words."""
        self.__dict__["tokenizer"] = WordTokenizer(learnt_value(learnt, "words", list[str]))

    @cached_property
    def tokenizer(self) -> WordTokenizer:
        """The words of English that training sentences have."""
        return WordTokenizer([*SPECIALS, *kept_vocabulary().english])

    @cached_property
    def _text(self) -> Int[Tensor, " word"]:
        return self._ids(english_text(0, "training", self.words))

    @cached_property
    def _held_out(self) -> Int[Tensor, " word"]:
        return self._ids(english_text(1, "held out", 40 * self.reach))

    def _ids(self, words: list[str]) -> Int[Tensor, " word"]:
        return torch.tensor([self.tokenizer.id(word) for word in words])


def _windows(text: Int[Tensor, " word"], n_words: int, generator: torch.Generator, size: int) -> Batch:
    starts = torch.randint(len(text) - n_words, (size, 1), generator=generator)
    windows = text[starts + torch.arange(n_words + 1)]  # [window, word]
    return Batch((windows[:, :-1],), windows[:, 1:])
