"""The toy with and without warm-up, alike in everything else."""

from dataclasses import replace
from typing import NamedTuple

from models.config import Norm
from models.lessons.objective.training import Run, Setup, train

STEPS, WARMUP, RATE, N_LAYERS = 30, 15, 0.03, 2


class Trial(NamedTuple):
    """Both reach the same learning rate: one in 15 steps, one at once."""

    with_warmup: Run
    without: Run


def trial(norm: Norm, *, seed: int) -> Trial:
    """Trains 2 layers a stack, 30 steps, at rate 0.03; post-norm needs the warm-up (Xiong et al. 2020, 3)."""
    at_once = Setup(steps=STEPS, learning_rate=RATE, seed=seed, n_layers=N_LAYERS, norm=norm)
    return Trial(train(replace(at_once, warmup=WARMUP)), train(at_once))
