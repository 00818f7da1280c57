"""Finds out how large a run is and what it costs, before it starts: by its data, parameters and device.

Threads of their own find this out: reading a large text must not delay the inference that other visitors
wait for.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from attention_lab.models.data.data_summary import for_batches
from attention_lab.pages.shared import server_load
from attention_lab.pages.shared.training import settings
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo
from attention_lab.pages.shared.work import Queue, any_number

if TYPE_CHECKING:
    from attention_lab.models.data.data_summary import DataSummary
    from attention_lab.models.training.config import RunConfig


@dataclass(frozen=True)
class Prepared:
    """A run that could start now. seconds: None if nobody knows. watched: the probe's text. data: what its
    data are.
    """

    config: RunConfig
    n_parameters: int
    memory_bytes: int
    seconds: float | None
    device: str
    watched: str
    data: DataSummary


KEPT = 8
"""Runs that Train has prepared and not started: each keeps what it took from its data."""


_preparations, _readings = (
    Queue(name, smaller="take a smaller model, or less data", most=any_number, keep=KEPT)
    for name in ("preparations", "readings of data")
)  # fmt: skip
"""The second is for uploaded or downloaded data, which takes seconds for each: one after another, so that no
two are in memory at once. Runs without such data do not wait for it.
"""
_tasks: LRUCache[str, Any] = LRUCache(KEPT)
"""The tasks by their options, without their data, so that changing a size of the model reads no file
again; another batch size does, for the padding."""
_looks: LRUCache[str, Any] = LRUCache(KEPT)
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
    return queue.result(key, lambda job: _prepare(info, values))


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


def _prepare(info: TaskInfo, values: Mapping[str, Any]) -> Prepared:
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
    costs = (cost.n_parameters, cost.memory_bytes, cost.seconds)
    return Prepared(config, *costs, machine.sentence, watched, summary)
