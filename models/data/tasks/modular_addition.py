"""Defines addition modulo a prime, whose rule a model may find long after it knows its examples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ...engine.transformer import Transformer
from .batch import IGNORED, Alphabet, Batch, Reading, Sample, Split
from .finite import THREE, Finite
from .task import option

EQUALS = "="
POWERS = "embedding.powers"
"""Under which name a run keeps them, step by step."""
_SPLIT_SEED = 0  # the same pairs are held out in every run
_SAMPLES = 4


@dataclass(frozen=True, kw_only=True)
class ModularAddition(Finite):
    """After `45 90 =` the model says 22, which is 45 + 90 modulo 113 (Power et al. 2022; Nanda et al. 2023).

    Every pair of numbers is of one part: `percent` of a hundred are trained on, whatever the `splits`; in
    three of them, one in ten of all, or half of what is not trained on, is for a test. A batch of training
    that has as many examples as there are pairs of training is all of them, so that with the task's own
    settings each step reads all.
    """

    name = "modular-addition"
    title = "Add modulo a prime"
    see = (
        "“=” looks at both numbers alike. When the held-out loss falls, long after the training loss, "
        "the model has found the rule (grokking)."
    )
    kind = "decoder-only"
    abilities = ("answer",)
    sizes = {
        "n_layers": 1,
        "n_heads": 4,
        "d_model": 64,
        "d_ff": 256,
        "positions": "learned",
        "norm": "none",
        "tied_embeddings": False,
    }
    training = {
        "steps": 3000,
        "batch_size": 6384,  # all of them
        "learning_rate": 3e-3,
        "decay": "all",
        "weight_decay": 1.0,
        "schedule": "constant",
        "warmup_steps": 10,
        "clip": 0.0,
        "held_out": 1024,
        "validate_every": 50,
    }
    modulus: int = option(113, "the numbers are those below it", low=5, high=211)
    percent: int = option(50, "pairs of numbers, of a hundred, that training sees", low=5, high=90)

    def required_sizes(self) -> dict[str, Any]:
        return {"vocab_size": self.modulus + 1, "max_len": 3, "pad_id": None}

    def outputs(self) -> tuple[str, ...]:
        return (*map(str, range(self.modulus)), EQUALS)

    def made_of(self) -> Alphabet:
        return Alphabet(self.outputs(), range(self.modulus), {"decoder": ()})

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        pairs = self._split["held out" if held_out else "training"]
        if held_out:
            pairs = pairs[torch.randperm(len(pairs), generator=generator)[:size]]
        elif size != len(pairs):
            pairs = pairs[torch.randint(len(pairs), (size,), generator=generator)]
        return self._batch_of(pairs)

    def count(self, split: Split) -> int:
        return len(self._split[split])

    def numbered(self, split: Split, numbers: Sequence[int], generator: torch.Generator) -> Batch:
        return self._batch_of(self._split[split][list(numbers)])

    def _batch_of(self, pairs: Int[Tensor, "pair number"]) -> Batch:
        inputs = torch.cat([pairs, torch.full((len(pairs), 1), self.modulus)], dim=1)
        targets = torch.full_like(inputs, IGNORED)
        targets[:, -1] = pairs.sum(dim=1) % self.modulus
        return Batch((inputs,), targets)

    def probe(self) -> Reading:
        return self.read(self._samples[0])

    def read(self, text: str) -> Reading:
        """Two numbers, with the "=" or without. Raises ValueError for anything else."""
        words = text.replace(EQUALS, f" {EQUALS} ").replace("+", " ").split()
        numbers = words[:-1] if words[-1:] == [EQUALS] else words
        longest = len(str(self.modulus))
        typed = [int(n) for n in numbers if n.isascii() and n.isdecimal() and len(n) <= longest]
        if not len(numbers) == len(typed) == 2 or max(typed) >= self.modulus:
            raise ValueError(
                f"{text.strip()[:40]!r} is not two numbers below {self.modulus}; try {self._samples[0]!r}"
            )
        ids = [*typed, self.modulus]
        labels = [self.outputs()[id_] for id_ in ids]
        return Reading((torch.tensor([ids]),), {"decoder": labels}, " ".join(labels))

    def answered(self, model: Transformer, reading: Reading) -> Reading:
        """The two numbers with what the model says after the "="."""
        with torch.no_grad():
            logits = model(reading.inputs[0].to(model.embedding.weight.device))
        sum_ = self.outputs()[int(logits[0, -1].argmax())]
        return replace(reading, answer=sum_, following=sum_)

    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """Held-out pairs, what the model says, and what is right."""
        samples = []
        for text in self._samples:
            a, b, _ = text.split()
            answer = self.answered(model, self.read(text)).answer
            samples.append(Sample(text, answer, str((int(a) + int(b)) % self.modulus)))
        return samples

    def watched(self, model: Transformer) -> dict[str, Tensor]:
        """How much of each frequency the embedding of the numbers has."""
        return {POWERS: powers(model.embedding.weight.detach().cpu()[: self.modulus]).float()}

    @cached_property
    def _split(self) -> dict[Split, Int[Tensor, "pair number"]]:
        """The pairs of each part."""
        numbers = torch.arange(self.modulus)
        pairs = torch.cartesian_prod(numbers, numbers)
        order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(_SPLIT_SEED))
        n_training = max(1, len(pairs) * self.percent // 100)
        rest = pairs[order[n_training:]]
        n_tested = min(len(pairs) // 10, len(rest) // 2) if self.splits == THREE else 0
        n_held_out = len(rest) - n_tested
        trained = pairs[order[:n_training]]
        return {"training": trained, "held out": rest[:n_held_out], "test": rest[n_held_out:]}

    @cached_property
    def _samples(self) -> Sequence[str]:
        return [f"{a} {b} {EQUALS}" for a, b in self._split["held out"][:_SAMPLES].tolist()]


def powers(embedding: Float[Tensor, "number channel"]) -> Float[Tensor, " frequency"]:
    """Share of each frequency 1, 2, ... in the embedding of the numbers 0 to p - 1, their mean taken out.

    The discrete Fourier transform over the numbers, squared and summed over channels.
    """
    spectrum = torch.fft.rfft(embedding.double(), dim=0).abs().square().sum(dim=1)[1:]
    return spectrum / spectrum.sum()
