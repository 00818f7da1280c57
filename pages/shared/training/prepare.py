"""What a run would be and cost, before it starts: its data read, its model counted, its device chosen.

On a thread of its own: reading a large text must not hold up the inference that other visitors wait for.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from models.limits import in_force
from pages.shared.training import settings
from pages.shared.training.tasks_on_offer import TaskInfo

if TYPE_CHECKING:
    from models.data.tasks import Task
    from models.training.config import RunConfig


@dataclass(frozen=True)
class Prepared:
    """A run that could start now. seconds: of training, None if nobody knows. watched: the probe's text."""

    config: RunConfig
    n_parameters: int
    memory_bytes: int
    seconds: float | None
    device: str
    watched: str


_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="preparing")
_made: LRUCache[str, Future[Prepared]] = LRUCache(in_force().prepared_tasks)
_lock = threading.Lock()
_tasks: LRUCache[str, Any] = LRUCache(in_force().prepared_tasks)
"""By their options, without their data: changing a size reads no file again. For the thread above alone."""


def prepared(info: TaskInfo, values: Mapping[str, Any]) -> Prepared:
    """Raises ValueError, with a sentence, where the settings make no run or this machine cannot train it."""
    key = json.dumps([info.name, dict(values)], sort_keys=True, default=str)
    with _lock:
        if key not in _made:
            _made[key] = _thread.submit(_prepare, info, dict(values))
        future = _made[key]
    try:
        return future.result()
    except ValueError:
        with _lock:  # a file may be there the next time
            _made.pop(key, None)
        raise


def _prepare(info: TaskInfo, values: Mapping[str, Any]) -> Prepared:
    import torch

    from models.training.devices import choose
    from models.training.memory import estimate

    torch.set_num_threads(1)
    options = {option.name: values[option.name] for option in info.options}
    key = json.dumps([info.name, options], sort_keys=True, default=str)
    task = _tasks.get(key) or settings.task_of(info, values)
    config = settings.run_config(info, values, task)
    training = config.training
    # The worker has all cores, whatever this thread may use.
    training = replace(training, threads=training.threads or os.cpu_count() or 1)
    machine = choose(training)
    found = estimate(replace(config, training=training))
    watched = task.probe().text
    if key not in _tasks:
        _tasks[key] = _without_data(task)
    config = replace(config, task=_tasks[key])
    return Prepared(config, found.n_parameters, found.memory_bytes, found.seconds, machine.sentence, watched)


def _without_data(task: Task) -> Task:
    """The same task with what it took from its data alone: a text of 200 MB takes five times as much."""
    light = type(task)(**task.to_dict())
    light.restore(task.learnt())
    return light
