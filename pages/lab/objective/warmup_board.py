"""What the warm-up is for: Adam's first steps, and the toy trained with and without."""

from typing import cast

import numpy as np

from models.config import Norm
from models.lessons.objective import adam, schedule, warmup
from models.lessons.objective.warmup import RATE, WARMUP, Trial, trial
from pages.lab.objective.inputs import MODEL, OTHER
from pages.shared import cache
from viz_core.boards import Curves, Line, Panel

NOISE_STEPS = 60


def tried(norm: str, seed: int) -> Trial:
    """Both runs, remembered: no other control of this part changes them."""

    def make() -> tuple[Trial, int]:
        return trial(cast("Norm", norm), seed=seed), 20_000

    return cast("Trial", cache.cached(cache.results, ("objective", "trial", norm, seed), make))


def directions(seed: int) -> Panel:
    sizes = schedule.noise_directions(adam.BETAS, NOISE_STEPS, seed=seed)
    warmed = schedule.ramp(warmup.WARMUP, NOISE_STEPS) * sizes
    return Curves(
        x=np.arange(1, NOISE_STEPS + 1), title="size of Adam's step where gradients are noise alone",
        x_label="step", y_label="learning rates", y_range=(0, 1.05),
        lines=[
            Line(y=sizes.numpy(), name="full rate at once", colour=OTHER),
            Line(y=warmed.numpy(), name=f"{warmup.WARMUP} steps of warm-up", colour=MODEL),
        ],
    )  # fmt: skip


def losses(made: Trial) -> Panel:
    runs = (made.without, made.with_warmup)
    top = max(run.loss.max().item() for run in runs)
    return Curves(
        x=np.array(made.without.steps), title=f"loss of the toy, rate {RATE}", x_label="training step",
        y_label="nats", y_range=(0, 1.05 * top),
        lines=[
            Line(y=made.without.loss.numpy(), name="full rate at once", colour=OTHER),
            Line(y=made.with_warmup.loss.numpy(), name=f"{WARMUP} steps of warm-up", colour=MODEL),
        ],
    )  # fmt: skip
