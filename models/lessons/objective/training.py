"""The toy trained from start to end, with its distributions written down on the way."""

import time
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from models.config import Norm
from models.lessons.objective import toy
from models.lessons.objective.adam import Adam, flat

MOST_STEPS = 200
MOST_RECORDS = 50


@dataclass(frozen=True)
class Setup:
    """How the toy is trained; `smoothing` is the eps of label smoothing.

    The rate grows in a line for `warmup` steps and then stays. n_layers and norm are those of each stack.
    Raises ValueError for what cannot be trained.
    """

    steps: int = 20
    learning_rate: int | float = 0.01
    smoothing: int | float = 0.0
    seed: int = 0
    warmup: int = 0
    n_layers: int = 1
    norm: Norm = "pre"

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= MOST_STEPS:
            raise ValueError(f"steps={self.steps} is outside 1 <= steps <= {MOST_STEPS}; try 20")
        if not 0 < self.learning_rate <= 1:
            raise ValueError(f"learning_rate={self.learning_rate} is outside 0 < rate <= 1; try 0.01")
        if not 0 <= self.smoothing < 1:
            raise ValueError(f"smoothing={self.smoothing} is outside 0 <= eps < 1; try 0.1")


@dataclass(frozen=True)
class Run:
    """What training wrote down; record 0 is the model before its first step."""

    steps: list[int]
    probabilities: Float[Tensor, "record position word"]
    loss: Float[Tensor, " record"]
    """Mean over positions, in nats, against the smoothed targets."""
    n_weights: int
    seconds: float


def train(setup: Setup) -> Run:
    """Trains on all seven positions in every step, by Adam (Vaswani et al. 2017, 5.3)."""
    began = time.perf_counter()
    model = toy.model(seed=setup.seed, n_layers=setup.n_layers, norm=setup.norm)
    weights, gradients = flat(model)
    adam = Adam(weights)
    recorded, probabilities, losses = records(setup.steps), [], []
    for step in range(setup.steps + 1):
        logits = toy.logits(model)  # [position, word]
        loss = F.cross_entropy(logits, toy.TARGETS, label_smoothing=setup.smoothing)
        if step in recorded:
            probabilities.append(logits.detach().softmax(dim=-1))
            losses.append(loss.detach())
        if step < setup.steps:
            gradients.zero_()
            loss.backward()
            rate = setup.learning_rate * min(1.0, (step + 1) / max(1, setup.warmup))
            weights -= rate * adam.direction(gradients)
    seconds = time.perf_counter() - began
    return Run(recorded, torch.stack(probabilities), torch.stack(losses), len(weights), seconds)


def records(steps: int) -> list[int]:
    """The steps that are written down: all, or as many of them, evenly spread, as there may be."""
    every = -(-steps // MOST_RECORDS)
    return [*range(0, steps, every), steps]


def of_the_right_word(run: Run) -> Float[Tensor, "record position"]:
    """The probability of each position's target."""
    return run.probabilities[:, torch.arange(len(toy.TARGETS)), toy.TARGETS]


def written(run: Run) -> list[list[list[str]]]:
    """The likeliest word at each position, by record and sentence."""
    ends = [len(target) for _, target in toy.PAIRS]
    return [
        [[toy.WORDS[word] for word in part.tolist()] for part in best.split(ends)]
        for best in run.probabilities.argmax(dim=-1)
    ]


@torch.no_grad()
def untrained_loss(seed: int) -> float:
    """The loss before the first step, against one-hot targets, in nats."""
    return F.cross_entropy(toy.logits(toy.model(seed=seed)), toy.TARGETS).item()
