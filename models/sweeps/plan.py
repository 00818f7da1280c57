"""Plans a sweep before it starts: the settings that make a model, the number of runs, their score."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

import optuna
from cachetools import LRUCache
from optuna.samplers import RandomSampler

from ..data.tasks import Task, generator_of, make_task
from ..engine.transformer import Transformer
from ..fields import nearest
from ..limits import in_force
from ..runs import jobs, queue
from ..runs.owners import MACHINE, Visitor
from ..runs.queue import JobRefused
from ..training.config import RunConfig, run_config
from ..training.settings import check_not_required, parted
from .optuna_study import at_random, suggest
from .spec import USUAL_TRIALS, Choices, Spec, Value, written

Settings = dict[str, Value]
MOST_SETTINGS = 200
"""Settings that one sweep tries: they are a table and a chart of its page."""
MOST_RUNS = 600
"""Runs of one sweep, its settings times its seeds: each has a folder, and so many take about 1 GB."""
MOST_USELESS = 100
"""Where so many draws in a row make no model, or were drawn before, there are no more settings."""
_MOST_CHECKED = 5_000
"""Settings of a grid of which each is checked whether it makes a model."""
_TASKS_KEPT = 8
_ASKED = 8  # examples


@dataclass(frozen=True)
class Plan:
    """A plan says what a sweep will train. spec: the one asked for, its sampler, trials and score filled in.

    points: the settings of the trials in order; of TPE those that it begins with. skipped: what makes no
    model, with the sentence that says why. config: the run of some settings, for an estimate.
    """

    spec: Spec
    points: list[Settings]
    skipped: list[tuple[Settings, str]]
    config: RunConfig

    @property
    def n_runs(self) -> int:
        return self.spec.trials * self.spec.seeds

    @property
    def sentence(self) -> str:
        """The plan in words: settings, seeds, runs, and what is left out."""
        counts = counted(self.spec.trials, self.spec.seeds)
        if not self.skipped:
            return counts
        settings, why = self.skipped[0]
        first = ", ".join(f"{name}={written(value)}" for name, value in settings.items())
        more = f" and {len(self.skipped) - 1:,} more" if len(self.skipped) > 1 else ""
        return f"{counts}; left out, as they make no model: {first}{more} ({why})"

    def seconds(self, n_slots: int) -> float | None:
        """About how long it takes with so many runs at once, if all take as long as that of `config`; None
        where nobody knows.
        """
        from ..training.estimates import estimate

        training = self.config.training
        threads = training.threads or max(1, (os.cpu_count() or 1) // n_slots)
        one = estimate(replace(self.config, training=replace(training, threads=threads))).seconds
        return None if one is None else one * math.ceil(self.n_runs / n_slots)


class Configs:
    """The runs of a sweep's settings. A task is made once for all trials that share its options."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._tasks: LRUCache[str, Task] = LRUCache(_TASKS_KEPT)

    def run(self, settings: Mapping[str, Value], seed: int | None = None) -> RunConfig:
        """The run of a trial's settings and a seed. Raises ValueError where they make no model."""
        spec = self._spec
        chosen = {**spec.fixed, **settings, **({} if seed is None else {"seed": seed})}
        lines = [f"{name}={written(value)}" for name, value in chosen.items()]
        options, sizes, training = parted(spec.task, lines)
        key = json.dumps(options, sort_keys=True)
        task = self._tasks.get(key) or make_task(spec.task, options)
        self._tasks[key] = task
        check_not_required(task, sizes)
        return run_config(task, sizes=sizes, training=training)


def plan(spec: Spec, *, by: Visitor = MACHINE) -> Plan:
    """Checks a sweep against its task and the limits of `by`, and counts what it will train.

    Raises ValueError, with value, rule and remedy: for settings that do not exist, values of which none makes
    a model, a score that the task does not have; and JobRefused for more than the limits allow.
    """
    # Which knows all names, or says so.
    parted(spec.task, [f"{name}=1" for name in (*spec.fixed, *spec.space)])
    how, most = spec.how, spec.trials or USUAL_TRIALS
    trials = min(most, spec.n_points or most)
    if how != "grid":
        check_size(trials, spec.seeds, by)
    elif (spec.n_points or 0) > _MOST_CHECKED:
        check_size(spec.n_points or 0, spec.seeds, by)
    configs, points, skipped = Configs(spec), list[Settings](), list[tuple[Settings, str]]()
    wanted, useless, tried = min(trials, at_random(trials)) if how == "tpe" else trials, 0, set[object]()
    for settings in _grid(spec) if how == "grid" else _draws(spec):
        useless += 1
        if (values := tuple(settings.values())) not in tried:
            tried.add(values)
            try:
                configs.run(settings)
                points.append(settings)
                useless = 0
            except ValueError as error:
                skipped.append((settings, str(error)))
        if how != "grid" and (len(points) == wanted or useless == MOST_USELESS):
            break
    if not points:
        raise ValueError(f"none of the {len(skipped):,} settings makes a model: {skipped[0][1]}")
    trials = trials if how == "tpe" else len(points)
    check_size(trials, spec.seeds, by)
    config = configs.run(points[len(points) // 2])
    queue.check_rights(config.training, by, keep_going=False)
    jobs.backend().check(config)
    # An untrained model is asked on a few held-out examples which scores the task has; the first is the main.
    model = Transformer(config.model, seed=0).eval()
    batch = config.task.batch(generator_of(0, 0), _ASKED, held_out=True)
    known = [*config.task.score(model, batch), "loss"]
    score = spec.score or known[0]
    if score not in known:
        raise ValueError(f"task {spec.task!r} has no score {score!r:.60}; {nearest(score, known)}")
    whole = replace(spec, sampler=how, trials=trials, score=score)
    return Plan(whole, points, skipped, config)


def _grid(spec: Spec) -> Iterator[Settings]:
    """Every combination of the choices, in order."""
    choices = (varied.values for varied in spec.space.values() if isinstance(varied, Choices))
    return (dict(zip(spec.space, values, strict=True)) for values in product(*choices))


def _draws(spec: Spec) -> Iterator[Settings]:
    """Settings drawn at random, without end."""
    study = optuna.create_study(sampler=RandomSampler(seed=0))
    while True:
        yield suggest(study.ask(), spec)


def counted(n: int, seeds: int) -> str:
    """Trials and runs in words."""
    return f"{n:,} setting{'s' * (n != 1)} × {seeds} seed{'s' * (seeds != 1)} = {n * seeds:,} runs"


def check_size(trials: int, seeds: int, by: Visitor) -> None:
    """Raises JobRefused for more trials or runs than one sweep may have."""
    most = MOST_RUNS if by.all_rights else in_force().visitor_sweep_runs
    if not most:
        raise JobRefused("visitors start no sweeps here (visitor_sweep_runs is 0); ask your teacher to")
    fewer, or_draw = "list fewer values", "or set trials to how many of the settings to draw"
    counts = counted(trials, seeds)
    if trials > MOST_SETTINGS:
        raise JobRefused(f"{counts}, and a sweep has at most {MOST_SETTINGS:,} settings; {fewer}, {or_draw}")
    if trials * seeds > most:
        raise JobRefused(
            f"{counts}, and a sweep has at most {most:,} runs; {fewer}, take fewer seeds, {or_draw}"
        )
