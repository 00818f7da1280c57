"""What a sweep will do, before it starts: the settings that make a model, how many runs, and their score."""

import json
import math
import random
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from ..byte_units import MB
from ..data.tasks import Task, generator_of, make_task
from ..engine.transformer import Transformer
from ..fields import nearest
from ..limits import in_force
from ..runs.owners import MACHINE, Visitor
from ..runs.queue import JobRefused
from ..runs.results import lower_is_better
from ..training.config import RunConfig, run_config
from ..training.settings import check_not_dictated, parted
from .spec import USUAL_TRIALS, Choices, Direction, Range, Spec, Value, Variation, written

Settings = dict[str, Value]
_TRIES = 100
_MOST_CHECKED = 5_000
"""Settings of a grid of which each is checked whether it makes a model."""
_ENDLESS = 10**12
_TASKS_KEPT = 8
_ASKED = 8  # examples


@dataclass(frozen=True)
class Plan:
    """What a sweep comes to. spec: the one asked for, its sampler, trials, score and direction filled in.

    points: the settings of a grid's trials, in order; None where a sampler draws them. skipped: what makes no
    model, with the sentence that says why. config: the run of the first settings, for an estimate.
    """

    spec: Spec
    points: list[Settings] | None
    skipped: list[tuple[Settings, str]]
    config: RunConfig

    @property
    def n_trials(self) -> int:
        return self.spec.trials

    @property
    def n_runs(self) -> int:
        return self.n_trials * self.spec.seeds

    @property
    def sentence(self) -> str:
        """The plan in words: settings, seeds, runs, and what is left out."""
        n, seeds = self.n_trials, self.spec.seeds
        counts = f"{n:,} setting{'s' * (n != 1)} × {seeds} seed{'s' * (seeds != 1)} = {self.n_runs:,} runs"
        if not self.skipped:
            return counts
        settings, why = self.skipped[0]
        first = ", ".join(f"{name}={written(value)}" for name, value in settings.items())
        more = f" and {len(self.skipped) - 1:,} more" if len(self.skipped) > 1 else ""
        return f"{counts}; left out, as they make no model: {first}{more} ({why})"


class Configs:
    """The runs of a sweep's settings. A task is made once for all trials that share its options."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._tasks: dict[str, Task] = {}

    def run(self, settings: Mapping[str, Value], seed: int | None = None) -> RunConfig:
        """The run of a trial's settings and a seed. Raises ValueError where they make no model."""
        spec = self._spec
        chosen = {**spec.fixed, **settings, **({} if seed is None else {"seed": seed})}
        lines = [f"{name}={written(value)}" for name, value in chosen.items()]
        options, sizes, training = parted(spec.task, lines)
        task = self._task(options)
        check_not_dictated(task, sizes)
        return run_config(task, sizes=sizes, training=training)

    def _task(self, options: dict[str, Any]) -> Task:
        key = json.dumps(options, sort_keys=True)
        if key not in self._tasks:
            while len(self._tasks) >= _TASKS_KEPT:
                del self._tasks[next(iter(self._tasks))]
            self._tasks[key] = make_task(self._spec.task, options)
        return self._tasks[key]


def plan(spec: Spec, *, by: Visitor = MACHINE) -> Plan:
    """Checks a sweep against its task and the limits of `by`, and counts what it will train.

    Raises ValueError, with value, rule and remedy: for settings that do not exist, values of which none makes
    a model, a score that the task does not have; and JobRefused for more than the limits allow.
    """
    # Which knows all names, or says so.
    parted(spec.task, [f"{name}=1" for name in (*spec.fixed, *spec.space)])
    configs = Configs(spec)
    if spec.how == "grid":
        points, skipped = _grid(spec, configs, by)
        first, trials = points[0], len(points)
    else:
        trials = min(spec.trials or USUAL_TRIALS, spec.n_points or _ENDLESS)
        check_size(trials, spec.seeds, by)
        points, skipped, first = None, [], first_settings(spec, configs)
    config = configs.run(first)
    score, direction = judged_by(spec, config)
    whole = replace(spec, sampler=spec.how, trials=trials, score=score, direction=direction)
    return Plan(whole, points, skipped, config)


def check_size(trials: int, seeds: int, by: Visitor) -> None:
    """Raises JobRefused for more trials or runs than one sweep may have."""
    limits = in_force()
    most = limits.sweep_runs if by.all_rights else limits.visitor_sweep_runs
    if not most:
        raise JobRefused("visitors start no sweeps here (visitor_sweep_runs is 0); ask your teacher to")
    fewer, or_draw = "list fewer values", "or set trials to how many of the settings to draw"
    counts = f"{trials:,} settings × {seeds} seed{'s' * (seeds != 1)} = {trials * seeds:,} runs"
    if trials > limits.sweep_trials:
        raise JobRefused(
            f"{counts}, and a sweep has at most {limits.sweep_trials:,} settings; {fewer}, {or_draw}"
        )
    if trials * seeds > most:
        raise JobRefused(
            f"{counts}, and a sweep has at most {most:,} runs; {fewer}, take fewer seeds, {or_draw}"
        )


def judged_by(spec: Spec, config: RunConfig) -> tuple[str, Direction]:
    """The score that trials are compared by, and whether more or less of it is better.

    It is the task's first held-out score, or the loss where it has none. Raises ValueError for a score that
    the task does not have. An untrained model is asked on a few held-out examples which scores there are.
    """
    model = Transformer(config.model, seed=0).eval()
    batch = config.task.batch(generator_of(0, 0), _ASKED, held_out=True)
    known = [*config.task.score(model, batch), "loss"]
    score = spec.score or known[0]
    if score not in known:
        raise ValueError(f"task {spec.task!r} has no score {score!r:.60}; {nearest(score, known)}")
    return score, spec.direction or ("minimize" if lower_is_better(score) else "maximize")


def _grid(spec: Spec, configs: Configs, by: Visitor) -> tuple[list[Settings], list[tuple[Settings, str]]]:
    """The combinations that make a model, as many as there shall be trials, and those found that make none.

    Where fewer trials are asked for, the same ones are drawn every time.
    """
    in_all = spec.n_points or 0
    n_points = min(spec.trials or in_all, in_all)
    if n_points > _MOST_CHECKED:
        check_size(n_points, spec.seeds, by)
    order: Iterable[int] = range(in_all)
    if n_points < in_all:
        order = random.Random(0).sample(range(in_all), min(in_all, _MOST_CHECKED))
    points, skipped = dict[int, Settings](), list[tuple[Settings, str]]()
    for at in order:
        settings = _combination(spec, at)
        try:
            configs.run(settings)
        except ValueError as error:
            skipped.append((settings, str(error)))
        else:
            points[at] = settings
        if len(points) == n_points:
            break
    if not points:
        raise ValueError(f"none of the {len(skipped):,} settings makes a model: {skipped[0][1]}")
    check_size(len(points), spec.seeds, by)
    return [points[at] for at in sorted(points)], skipped


def _combination(spec: Spec, at: int) -> Settings:
    """The combination at a place of the grid, in which the last setting varies fastest."""
    settings: Settings = {}
    for name, varied in reversed(list(spec.space.items())):
        assert isinstance(varied, Choices)
        at, choice = divmod(at, len(varied.values))
        settings[name] = varied.values[choice]
    return {name: settings[name] for name in spec.space}


def first_settings(spec: Spec, configs: Configs) -> Settings:
    """Some settings of the space that make a model. Raises ValueError where a hundred draws give none."""
    rng, why = random.Random(0), ""
    for _ in range(_TRIES):
        settings = {name: _draw(varied, rng) for name, varied in spec.space.items()}
        try:
            configs.run(settings)
        except ValueError as error:
            why = why or str(error)
        else:
            return settings
    raise ValueError(f"none of {_TRIES} settings that were drawn makes a model: {why}")


def _draw(varied: Choices | Range, rng: random.Random) -> Value:
    if isinstance(varied, Choices):
        return rng.choice(varied.values)
    if varied.kind == "int":
        return rng.randint(int(varied.low), int(varied.high))
    if varied.kind == "log":
        return float(varied.low * (varied.high / varied.low) ** rng.random())
    return rng.uniform(varied.low, varied.high)


# How long a sweep will take and what it will keep, from the estimates of a few of its runs.

_BYTES_PER_PARAMETER = 12  # a checkpoint: the weight and the optimiser's two means, as float32
_RECORD_MB = 1


@dataclass(frozen=True)
class SweepCost:
    """seconds: of the whole sweep without pruning, None where nobody knows. disk_bytes: at most."""

    seconds: float | None
    disk_bytes: int


def cost_of(plan: Plan, *, n_slots: int, threads: int) -> SweepCost:
    """What a sweep comes to: the mean of its lowest, middle and highest settings, times its runs.

    threads: that each run trains with, where its settings leave that open. n_slots: runs at once.
    """
    from ..engine.size import count_parameters
    from ..training.estimates import estimate

    space, maker, configs = plan.spec.space, Configs(plan.spec), list[RunConfig]()
    corners = [{name: _at(varied, share) for name, varied in space.items()} for share in (0.0, 0.5, 1.0)]
    if plan.points:
        last = len(plan.points) - 1
        corners = [plan.points[at] for at in sorted({0, last // 2, last})]
    for settings in corners:
        with suppress(ValueError):  # they make no model
            configs.append(maker.run(settings))
    configs = configs or [plan.config]
    seconds: list[float | None] = []
    for config in configs:
        training = replace(config.training, threads=config.training.threads or threads)
        seconds.append(estimate(replace(config, training=training)).seconds)
    known = [each for each in seconds if each is not None]
    parameters = fmean(count_parameters(config.model).total for config in configs)
    limits = in_force()
    written = (limits.snapshots_mb + limits.log_mb + _RECORD_MB) * MB + _BYTES_PER_PARAMETER * parameters
    in_all = fmean(known) * math.ceil(plan.n_runs / max(1, n_slots)) if known else None
    return SweepCost(seconds=in_all, disk_bytes=round(written * plan.n_runs))


def _at(varied: Variation, share: float) -> Value:
    """The value that lies so far from the first to the last."""
    if isinstance(varied, Choices):
        return varied.values[round(share * (len(varied.values) - 1))]
    if varied.kind == "log":
        return float(varied.low * (varied.high / varied.low) ** share)
    value = varied.low + share * (varied.high - varied.low)
    return round(value) if varied.kind == "int" else float(value)
