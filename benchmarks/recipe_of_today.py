"""Worth of each newer part of a language model: the table of docs/today.md.

    python -m benchmarks.recipe_of_today [--seeds 3]

Each model reads the letters of Tiny Shakespeare by the recipe of the shipped `shakespeare` (4 layers, 4
heads, 128 wide, 64 letters, 2,000 steps of 12), with one thing changed, and is scored on 4,096 held-out
pieces. nanoGPT states 1.88 for this size (its README, on a CPU). Intervals are of 95%, of Student's t over
the seeds.
"""

import argparse
import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from scipy import stats

from attention_lab.models.runs.recipes import RECIPES
from attention_lab.models.runs.train_shipped import config_of
from attention_lab.models.scores.intervals import validated
from attention_lab.models.training.loop import HELD_OUT_SEED, Training

SIZES: dict[str, dict[str, Any]] = {
    "as in nanoGPT": {},
    "rotary positions": {"positions": "rotary"},
    "RMS norms": {"norm_type": "rms"},
    "SwiGLU": {"gated": True, "activation": "silu"},
    "2 key heads of 4": {"n_kv_heads": 2},
    "norms of queries and keys": {"qk_norm": "head"},
}
ALL = {name: value for sizes in SIZES.values() for name, value in sizes.items()}
MUON = {"optimizer": "muon", "learning_rate": 0.02}
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    name: (sizes, {}) for name, sizes in SIZES.items()
} | {
    "Muon": ({}, MUON),
    "all parts": (ALL, {}),
    "all parts and Muon": (ALL, MUON),
}
"""By name, what differs in the model and in the training."""


def loss(sizes: dict[str, Any], training: dict[str, Any], seed: int) -> tuple[float, int, float]:
    """Nats a letter on held-out text, parameters, and seconds."""
    recipe = RECIPES["shakespeare"]
    own = replace(recipe, sizes={**recipe.sizes, **sizes}, training={**recipe.training, **training})
    config = config_of(own)
    run = Training(replace(config, training=replace(config.training, seed=seed, validate_every=10**6)))
    for _ in run:
        pass
    held_out = config.task.examples(HELD_OUT_SEED, 4_096, at_once=64)
    found = validated(config.task, run.model.eval(), held_out).scores["loss"]
    return found, sum(each.numel() for each in run.model.parameters()), run.seconds


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.recipe_of_today", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    n_seeds = parser.parse_args().seeds
    torch.set_num_threads(1)  # as the recipe does
    heads = ("changed", "parameters", "nats a letter", "95%", "seconds, of the first's")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    first = 0.0
    for name, (sizes, training) in VARIANTS.items():
        runs = [loss(sizes, training, seed) for seed in range(n_seeds)]
        losses, seconds = [run[0] for run in runs], sum(run[2] for run in runs)
        first = first or seconds
        half = stats.t.ppf(0.975, n_seeds - 1) * np.std(losses, ddof=1) / math.sqrt(n_seeds)
        found = f"{np.mean(losses):.3f} | ± {half:.3f} | {seconds / first:.2f}"
        print(f"| {name} | {runs[0][1]:,} | {found} |", flush=True)


if __name__ == "__main__":
    main()
