"""What a run would be and cost, before it starts: from its data, its number of parameters and its device, and
how long its own steps take here.

Threads of their own find this out: reading a large text must not delay the inference that other visitors
wait for.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import psutil
from cachetools import LRUCache

from attention_lab.models.data.data_summary import for_batches
from attention_lab.models.limits import in_force
from attention_lab.pages.shared import server_load
from attention_lab.pages.shared.training import settings
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo
from attention_lab.pages.shared.work import Queue, any_number

if TYPE_CHECKING:
    from attention_lab.models.data.data_summary import DataSummary
    from attention_lab.models.training.config import RunConfig


@dataclass(frozen=True)
class Prepared:
    """A run that could start now. key: of its settings. timed: its config with the threads that it will have.
    seconds: by formula, None if nobody knows. watched: the probe's text. data: what its data are.
    """

    key: str
    config: RunConfig
    timed: RunConfig
    n_parameters: int
    memory_bytes: int
    seconds: float | None
    device: str
    watched: str
    data: DataSummary


def forget_pictures() -> None:
    """Forgets the pictures that a task has read, which nobody needs once its run is known."""
    from attention_lab.models.data.pictures import forget

    forget()


_preparations, _readings = (
    Queue(
        name, smaller="take a smaller model, or less data", most=any_number, keep=in_force().prepared_tasks,
        after=forget_pictures,
    )
    for name in ("preparations", "readings of data")
)  # fmt: skip
"""The second is for uploaded or downloaded data, which takes seconds for each: one after another, so that no
two are in memory at once. Runs without such data do not wait for it.
"""
_tasks: LRUCache[str, Any] = LRUCache(in_force().prepared_tasks)
"""The tasks by their options, without their data, so that changing a size of the model reads no file
again; another batch size does, for the padding."""
_looks: LRUCache[str, Any] = LRUCache(in_force().prepared_tasks)
"""What their data are, by the same keys, for the batches that were asked for last."""
_lock = threading.Lock()
"""The lock for these caches."""


def _drop() -> None:
    with _lock:
        _tasks.clear()
        _looks.clear()


server_load.cache_clearers += [_preparations.forget_done, _readings.forget_done, _drop]


def prepared(info: TaskInfo, values: Mapping[str, Any]) -> Prepared:
    """Prepares a run. Raises ValueError where the settings make no run or this machine cannot train it."""
    values = settings.with_paths(info, values)
    key = json.dumps([info.name, values], sort_keys=True, default=str)
    queue = _readings if _reads_files(info, values) else _preparations
    return queue.result(key, lambda job: _prepare(info, values, key))


def _reads_files(info: TaskInfo, values: Mapping[str, Any]) -> bool:
    """Whether files have to be read first, which may be long."""
    from attention_lab.models.data.downloads import SOURCES

    handed_in = any(values[option.name] for option in info.options if option.file)
    if not handed_in and values.get("source") not in SOURCES:
        return False
    key = _key(info, values)
    with _lock:
        return key not in _tasks or _known_summary(key, values["batch_size"]) is None


def _known_summary(key: str, batch_size: int) -> DataSummary | None:
    """What a task's data are, where it is known for batches of this size; the lock is held."""
    summary: DataSummary | None = _looks.get(key)
    return None if summary is None else for_batches(summary, batch_size)


def _key(info: TaskInfo, values: Mapping[str, Any]) -> str:
    options = {option.name: values[option.name] for option in info.options}
    return json.dumps([info.name, options], sort_keys=True, default=str)


def _prepare(info: TaskInfo, values: Mapping[str, Any], run: str) -> Prepared:
    from attention_lab.models.data.tasks.summary import summary_of
    from attention_lab.models.training.estimates import estimate, without_data
    from attention_lab.models.training.memory import check_threads, choose

    key = _key(info, values)
    with _lock:
        known, summary = _tasks.get(key), _known_summary(key, values["batch_size"])
    task = known
    if task is None or summary is None:
        task = settings.task_of(info, values)
        if known is not None:
            task.restore(known.learnt())  # its data are read again, and not learnt from again
    config = settings.run_config(info, values, task)
    training = config.training
    check_threads(training)
    # The worker has all cores, whatever this thread may use.
    training = replace(training, threads=training.threads or os.cpu_count() or 1)
    machine = choose(training)
    cost = estimate(replace(config, training=training))
    watched = task.probe().text
    summary = summary or summary_of(task, training.batch_size)
    with _lock:
        _looks[key] = summary
        light = _tasks[key] = _tasks.get(key) or without_data(task)
    config = replace(config, task=light)
    timed, costs = replace(config, training=training), (cost.n_parameters, cost.memory_bytes, cost.seconds)
    return Prepared(run, config, timed, *costs, machine.sentence, watched, summary)


FRESH_SECONDS = 10.0
"""So long a time is shown without another look at how busy the machine is."""
OLD_SECONDS = 300.0
"""So long a time counts at most, however little the machine seems to have changed."""
BUSIER = 0.4
"""Cores that other work keeps busy: a difference of more than so many changes a run's time."""
BUSY_SECONDS = 0.2
"""So long it is watched how busy the machine is."""


@dataclass(frozen=True)
class Tried:
    """What a run takes from the start of its process to its end, in seconds: as busy as the machine was, with
    `busy` of its cores at work for others; and alone. None of a run that is too large to be tried.
    """

    seconds: float | None
    alone: float | None
    busy: float


@dataclass(frozen=True)
class _Known:
    tried: Tried
    n_cores: int | None
    at: float
    checked_at: float


class Probes:
    """The times of runs that stand ready to start, by their keys. One thread tries the run whose settings
    somebody looks at, for about a second, and again once the machine is busier or quieter than then.

    probe: seconds and seconds alone of a run, or None where it is too large to be tried; busy: how many cores
    are at work now.
    """

    def __init__(
        self,
        probe: Callable[[RunConfig], tuple[float, float] | None],
        busy: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._probe, self._busy, self._clock = probe, busy, clock
        self._known: LRUCache[str, _Known] = LRUCache(256)
        self._lock = threading.Lock()
        self.queue = Queue("probes", smaller="take a smaller model", after=forget_pictures)

    def drop(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._known.clear()

    def time_of(self, key: str, config: RunConfig, page: str) -> Tried | None:
        """What is known of a run now, None before it was tried. Where it is due, it is tried (anew)."""
        with self._lock:
            known = self._known.get(key)
        is_fresh = known is not None and self._clock() - known.checked_at <= FRESH_SECONDS
        if known is None or not is_fresh or known.n_cores != os.cpu_count():
            with suppress(ValueError):  # too many wait; whoever still looks asks again soon
                self.queue.ask(key, page, work=lambda job: self.update(key, config), anew=True)
        return known.tried if known else None

    def update(self, key: str, config: RunConfig) -> None:
        """Tries a run, unless it is known how long it takes on a machine as busy as now."""
        busy, n_cores = self._busy(), os.cpu_count()
        with self._lock:
            known = self._known.get(key)
        now = self._clock()
        if (
            known is not None
            and known.n_cores == n_cores
            and abs(known.tried.busy - busy) <= BUSIER
            and now - known.at <= OLD_SECONDS
        ):
            measured = replace(known, checked_at=now)
        else:
            seconds, alone = self._probe(config) or (None, None)
            measured = _Known(Tried(seconds, alone, busy), n_cores, now, self._clock())
        with self._lock:
            self._known[key] = measured


def _probed(config: RunConfig) -> tuple[float, float] | None:
    from attention_lab.models.training.estimates import probe, whole

    try:
        costs = probe(config)
        duration = None if costs is None else whole(config, costs)
    except (ValueError, OSError, RuntimeError):  # such as a file that is gone: the start says it in words
        return None
    return None if duration is None else (duration.seconds, duration.alone)


def busy_cores() -> float:
    """How many of the machine's cores are at work."""
    before = psutil.cpu_times()
    time.sleep(BUSY_SECONDS)
    spent = [after - was for after, was in zip(psutil.cpu_times(), before, strict=True)]
    idle = [spent[before._fields.index(name)] for name in ("idle", "iowait") if name in before._fields]
    return (os.cpu_count() or 1) * max(0.0, 1 - sum(idle) / max(sum(spent), 1e-9))


probes = Probes(_probed, busy_cores)
server_load.cache_clearers.append(probes.drop)
