"""Trains the suite of small language models that differ in nothing but how they know the order of words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from models.config import ModelConfig
from models.data.stream import english_text
from models.data.tokenizers import SPECIALS, WordTokenizer
from models.engine.transformer import Transformer
from models.zoo.files import write_model
from models.zoo.suite import LanguageModel, held_out_texts, untrained

STRETCH = 4  # times the trained length that a model may be asked for, where its scheme has an answer
_TEXTS, _HELD_OUT_SEED = 256, 1
_HELD_OUT = "one in ten combinations of subject and object noun; training never shows such two together"
_LIMITS = (
    "It knows the words and sentences of its own grammar only. It is small, trained briefly, with one seed: "
    "that one scheme does better than another here says little of large models."
)


@dataclass(frozen=True, kw_only=True)
class SuiteConfig:
    """What all models of the suite share: data, sizes, steps and seed. Lengths and sizes count words.

    AdamW (Loshchilov and Hutter 2019), linear warm-up over a tenth of the steps, cosine decay to zero;
    gradients are clipped to norm 1.
    """

    length: int = 32
    text_words: int = 2_000_000
    steps: int = 1_500
    batch_size: int = 64
    learning_rate: float = 3e-3
    weight_decay: float = 0.01
    n_layers: int = 2
    n_heads: int = 4
    d_model: int = 48
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def model(self, positions: str, vocab_size: int) -> ModelConfig:
        """Learned positions end where training does; every other scheme may be asked for more."""
        return ModelConfig(
            kind="decoder-only",
            n_layers=self.n_layers,
            n_heads=self.n_heads,
            d_model=self.d_model,
            vocab_size=vocab_size,
            max_len=self.length * (1 if positions == "learned" else STRETCH),
            positions=positions,
            pad_id=None,
        )


def training_text(config: SuiteConfig) -> tuple[Int[Tensor, " word"], WordTokenizer]:
    """The ids of the training text, and the tokenizer of its words."""
    words = english_text(config.seed, "training", config.text_words)
    tokenizer = WordTokenizer([*SPECIALS, *sorted(set(words) - set(SPECIALS))])
    return torch.tensor([tokenizer.id(word) for word in words]), tokenizer


def windows(text: Int[Tensor, " word"], config: SuiteConfig) -> Iterator[Int[Tensor, "batch window"]]:
    """Endless batches of length + 1 words from random places in the text; the same for a seed."""
    generator = torch.Generator().manual_seed(config.seed)
    within = torch.arange(config.length + 1)
    while True:
        starts = torch.randint(len(text) - config.length, (config.batch_size, 1), generator=generator)
        yield text[starts + within]


def train(model: Transformer, text: Int[Tensor, " word"], config: SuiteConfig) -> Iterator[float]:
    """Trains in place; yields the mean next-word loss of each step's batch (nats)."""
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=config.learning_rate, betas=(0.9, 0.98), weight_decay=config.weight_decay
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, config.learning_rate, config.steps, pct_start=0.1, cycle_momentum=False
    )
    model.train()
    for batch in islice(windows(text, config), config.steps):
        logits = model(batch[:, :-1])  # [batch, position, vocab]
        loss = cross_entropy(logits.mT, batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        yield loss.item()
    model.eval()


def train_and_write(
    positions: str,
    text: Int[Tensor, " word"],
    tokenizer: WordTokenizer,
    config: SuiteConfig,
    *,
    out: Path,
    command: str,
) -> Iterator[float]:
    """Trains one model, yielding each step's loss, then writes weights and card to `out`/`positions`."""
    model = untrained(config.model(positions, len(tokenizer)), config.seed)
    yield from train(model, text, config)
    training = {"command": command, **config.to_dict()}
    card = {
        "name": positions,
        "summary": f"next-word model of English sentences, one of a suite: positions={positions!r}",
        "license": "MIT",
        "date": datetime.now(UTC).date().isoformat(),
        "data": {"text": "models.data.stream", "seed": config.seed, "held_out": _HELD_OUT},
        "training": training,
        "objective": "next-word cross-entropy over windows that begin anywhere in the text",
        "limits": _LIMITS,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "metrics": metrics(LanguageModel(positions, model, tokenizer, {"training": training})),
        "vocabulary": tokenizer.vocabulary,
    }
    write_model(out / positions, positions, model, card)


def metrics(lm: LanguageModel) -> dict[str, Any]:
    """Mean held-out loss (nats per word) in the positions that training had, the next as many, the rest."""
    length = lm.trained_length
    texts = held_out_texts(lm.tokenizer, _TEXTS, STRETCH * length + 1, _HELD_OUT_SEED)
    losses = lm.losses(texts[:, : lm.max_words + 1])  # [text, position]
    ranges = [(0, length), (length, 2 * length), (2 * length, STRETCH * length)]
    return {
        "held_out_texts": _TEXTS,
        "loss": {
            f"positions {start + 1} to {end}": losses[:, start:end].mean().item()
            for start, end in ranges
            if end <= losses.shape[1]
        },
    }
