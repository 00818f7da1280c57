"""The shipped suite: small language models that differ in nothing but how they know the order of words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from models.config import ModelConfig
from models.data.stream import english_text
from models.data.tokenizers import EOS, SPECIALS, WordTokenizer
from models.engine.transformer import Transformer
from models.zoo.cards import CARD, SHIPPED, read_card
from models.zoo.files import read_model

SCHEMES = ("none", "sinusoidal", "learned", "rotary", "alibi", "t5", "transformer-xl")
FOLDER = SHIPPED / "positions"


@dataclass(frozen=True)
class LanguageModel:
    """A decoder-only model that predicts the next word, with its words and its card."""

    scheme: str
    model: Transformer
    tokenizer: WordTokenizer
    card: dict[str, Any]

    @property
    def trained_length(self) -> int:
        """The words of a training window."""
        return self.card["training"]["length"]

    @property
    def max_words(self) -> int:
        """The longest text that its positions reach."""
        return self.model.config.max_len

    def read(self, text: str) -> Int[Tensor, " word"]:
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
        limit = self.trained_length - 1  # <eos> has the first position
        if len(words.ids) > limit:
            raise ValueError(
                f"the text has {len(words.ids):,} words, but training had at most {limit} in one piece; "
                f"remove {len(words.ids) - limit:,}"
            )
        return torch.tensor([EOS, *words.ids])

    def words(self, ids: Int[Tensor, " word"]) -> list[str]:
        """The words of some ids."""
        return [self.tokenizer.vocabulary[id_] for id_ in ids.tolist()]

    @torch.no_grad()
    def losses(self, texts: Int[Tensor, "text word"]) -> Float[Tensor, "text predicted"]:
        """-ln of the probability of words 2, 3, ..., each given all before it (nats).

        Raises ValueError where the positions end before the text does.
        """
        read = texts.shape[1] - 1
        if read > self.max_words:
            raise ValueError(
                f"{read} words, but positions={self.scheme!r} end at {self.max_words}: there is nothing for "
                f"position {self.max_words + 1}; ask for at most {self.max_words}"
            )
        logits = self.model(texts[:, :-1])  # [text, predicted, vocab]
        losses = cross_entropy(logits.flatten(0, 1), texts[:, 1:].flatten(), reduction="none")
        return losses.view(len(texts), read)  # [text, predicted]


def load_scheme(scheme: str) -> LanguageModel:
    """The shipped model of one scheme. Raises ValueError for an unknown one, else as `read_model` does."""
    if scheme not in SCHEMES:
        raise ValueError(f"scheme={scheme!r} is not in the suite; choose one of {', '.join(SCHEMES)}")
    card = read_card(FOLDER / scheme / CARD)
    model, tokenizer = read_model(FOLDER / scheme / f"{scheme}.safetensors", card, kind="decoder-only")
    return LanguageModel(scheme, model, tokenizer, card)


def untrained(config: ModelConfig, seed: int) -> Transformer:
    """A new model from a seed. Weights that are not its positions' own are the same in every scheme."""
    model = Transformer(config, seed=seed)
    without = Transformer(replace(config, positions="none"), seed=seed)
    model.load_state_dict(without.state_dict(), strict=False)
    return model


def held_out_texts(
    tokenizer: WordTokenizer, n_texts: int, n_words: int, seed: int
) -> Int[Tensor, "text word"]:
    """The ids of held-out text, cut into pieces that begin and end where they happen to; same for a seed."""
    words = english_text(seed, "held out", n_texts * n_words)
    return torch.tensor([tokenizer.id(word) for word in words]).view(n_texts, n_words)
