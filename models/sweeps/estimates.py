"""How long a sweep will take and what it will keep, from the estimates of a few of its runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from models.byte_units import MB
from models.limits import in_force
from models.sweeps.plan import Configs, Plan, Settings
from models.sweeps.space import Choices, Value, Variation

if TYPE_CHECKING:
    from models.training.config import RunConfig

_BYTES_PER_PARAMETER = 12  # a checkpoint: the weight and the optimiser's two means, as float32
_RECORD_MB = 1


@dataclass(frozen=True)
class Estimate:
    """seconds: of the whole sweep without pruning, None where nobody knows. disk_bytes: at most."""

    seconds: float | None
    disk_bytes: int


def estimated(plan: Plan, *, n_slots: int, threads: int) -> Estimate:
    """What a sweep comes to: the mean of its lowest, middle and highest settings, times its runs.

    threads: that each run trains with, where its settings leave that open. n_slots: runs at once.
    """
    from models.engine.size import count_parameters
    from models.training.estimates import estimate

    configs = _some(plan)
    seconds: list[float | None] = []
    for config in configs:
        training = replace(config.training, threads=config.training.threads or threads)
        seconds.append(estimate(replace(config, training=training)).seconds)
    known = [each for each in seconds if each is not None]
    parameters = fmean(count_parameters(config.model).total for config in configs)
    limits = in_force()
    kept = (limits.snapshots_mb + limits.log_mb + _RECORD_MB) * MB + _BYTES_PER_PARAMETER * parameters
    in_all = None
    if known:
        in_all = fmean(known) * math.ceil(plan.n_runs / max(1, n_slots))
    return Estimate(seconds=in_all, disk_bytes=round(kept * plan.n_runs))


def _some(plan: Plan) -> list[RunConfig]:
    """The runs of the lowest, the middle and the highest settings, as far as they make a model."""
    configs, found = Configs(plan.spec), []
    for settings in _corners(plan):
        try:
            found.append(configs.run(settings))
        except ValueError:
            continue
    return found or [plan.config]


def _corners(plan: Plan) -> list[Settings]:
    if plan.points:
        last = len(plan.points) - 1
        return [plan.points[at] for at in sorted({0, last // 2, last})]
    space = plan.spec.space
    return [{name: _at(varied, share) for name, varied in space.items()} for share in (0.0, 0.5, 1.0)]


def _at(varied: Variation, share: float) -> Value:
    """The value that lies so far from the first to the last."""
    if isinstance(varied, Choices):
        return varied.values[round(share * (len(varied.values) - 1))]
    if varied.kind == "log":
        return float(varied.low * (varied.high / varied.low) ** share)
    value = varied.low + share * (varied.high - varied.low)
    return round(value) if varied.kind == "int" else float(value)
