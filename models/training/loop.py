"""The training loop: an iterator of steps that prints nothing and starts no process."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import torch

from models.config import ModelConfig
from models.data.tokenizers import WordTokenizer
from models.engine.transformer import Transformer
from models.training.translation import batches, losses


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """All that decides a run. AdamW (Loshchilov and Hutter 2019), linear warm-up, cosine decay to zero.

    `antecedent_weight` multiplies the loss of naming antecedents; gradients are clipped to norm `clip`.
    Raises ValueError for numbers that train nothing.
    """

    model: ModelConfig
    vocabulary: tuple[str, ...]
    steps: int
    batch_size: int = 128
    learning_rate: float = 2e-3
    warmup_steps: int = 400
    weight_decay: float = 0.01
    clip: float = 1.0
    antecedent_weight: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "learning_rate", "clip"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name}={value} must be above 0; give more, or leave it at its default")
        for name in ("warmup_steps", "weight_decay", "antecedent_weight"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name}={value} must not be negative; 0 switches it off")
        if self.model.kind != "encoder-decoder" or self.model.vocab_size != len(self.vocabulary):
            raise ValueError(
                f"kind={self.model.kind!r} with vocab_size={self.model.vocab_size} cannot translate with "
                f"{len(self.vocabulary)} words; give an encoder-decoder with just that vocab_size"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the vocabulary (the card has it once)."""
        values = asdict(self) | {"model": self.model.to_dict()}
        del values["vocabulary"]
        return values


@dataclass(frozen=True)
class Step:
    """One finished step, counted from 1. Losses in nats, the gradient's norm before clipping."""

    step: int
    losses: dict[str, float]
    learning_rate: float
    gradient_norm: float
    tokens_per_second: float


def learning_rate(config: TrainingConfig, step: int) -> float:
    """Of step 1, 2, ...: up in a line to `warmup_steps`, then down along half a cosine."""
    if step <= config.warmup_steps:
        return config.learning_rate * step / config.warmup_steps
    done = (step - config.warmup_steps) / max(1, config.steps - config.warmup_steps)
    return config.learning_rate * 0.5 * (1 + math.cos(math.pi * done))


class Run(Iterator[Step]):
    """A training under way: each `next` is one step of `model`. Same config and threads, same numbers."""

    def __init__(self, config: TrainingConfig) -> None:
        self.config = config
        self.tokenizer = WordTokenizer(config.vocabulary)
        self.model = Transformer(config.model, seed=config.seed)
        self.step = 0
        self._batches = batches(self.tokenizer, config.batch_size, config.seed)
        self._optimizer = torch.optim.AdamW(
            self.model.parameters(), betas=(0.9, 0.98), weight_decay=config.weight_decay
        )

    def __next__(self) -> Step:
        if self.step == self.config.steps:
            raise StopIteration
        start = time.perf_counter()
        self.step += 1
        rate = learning_rate(self.config, self.step)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        batch = next(self._batches)
        self.model.train()
        parts = losses(self.model, batch)
        loss = parts["translation"] + self.config.antecedent_weight * parts["antecedent"]
        self._optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self._optimizer.step()
        self.model.eval()
        seconds = time.perf_counter() - start
        values = {name: part.item() for name, part in parts.items()}
        return Step(self.step, values, rate, norm.item(), batch.n_tokens / seconds)


def train(config: TrainingConfig) -> Run:
    """An iterator of steps, which holds the model it trains."""
    return Run(config)
