"""Scores each member of a family with several seeds: the table of docs/families.md.

    python -m benchmarks.families induction-sizes
    python -m benchmarks.families sinks --seeds 3

Each member is trained anew by its recipe, with the seeds 0, 1, 2, ...; the score is that of 1,024 held-out
examples. Intervals are of 95%, of Student's t over the seeds.
"""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from attention_lab.models.runs.recipes import RECIPES
from attention_lab.models.runs.train_shipped import config_of
from attention_lab.models.training.loop import Training
from attention_lab.models.zoo.families import FAMILIES, Family

HELD_OUT = 1_024


def score(name: str, seed: int, of: str) -> float:
    """The held-out score of a member that is trained with this seed."""
    config = config_of(RECIPES[name])
    training = replace(config.training, seed=seed, held_out=HELD_OUT)
    *_, last = Training(replace(config, training=training))
    assert last.validation is not None
    return last.validation[of]


def row(family: Family, name: str, values: Mapping[str, Any], n_seeds: int) -> str:
    """A member as a row of the table: its dials, the mean, and its interval."""
    scores = [score(name, seed, family.score) for seed in range(n_seeds)]
    mean, half = float(np.mean(scores)), 0.0
    if n_seeds > 1:
        half = float(stats.t.ppf(0.975, n_seeds - 1) * np.std(scores, ddof=1) / n_seeds**0.5)
    cells = [*map(str, values.values()), f"{mean:.3f}", f"± {half:.3f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.families", description=__doc__)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    family = FAMILIES[chosen.family]
    heads = [*family.dials, f"held-out {family.score}", "95%"]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for name, values in family.members().items():
        print(row(family, name, values, chosen.seeds), flush=True)


if __name__ == "__main__":
    main()
