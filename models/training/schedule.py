"""The learning rate of every step."""

import math

from models.training.config import TrainingConfig


def learning_rate(config: TrainingConfig, step: int) -> float:
    """The rate of a step, counted from 1: it rises linearly until `warmup_steps`, then follows the schedule.

    Both count from the step after `schedule_from`: where a run is trained further, they can start anew.

    "warm-up" falls as 1 / sqrt(step) (Vaswani et al. 2017, 5.3), scaled so that its peak is the config's
    learning rate; "cosine" falls along half a cosine to final_rate times the peak at the last step.
    """
    peak, warmup = config.learning_rate, config.warmup_steps
    step, steps = max(1, step - config.schedule_from), config.steps - config.schedule_from
    if step <= warmup:
        return peak * step / warmup
    if config.schedule == "constant":
        return peak
    if config.schedule == "warm-up":
        return peak * math.sqrt(max(1, warmup) / step)
    done = (step - warmup) / max(1, steps - warmup)
    share = 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
    return peak * (config.final_rate + (1 - config.final_rate) * share)
