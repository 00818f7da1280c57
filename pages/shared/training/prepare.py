"""What a run would be and cost, before it starts: from its data, its number of parameters and its device.

Threads of their own do this: reading a large text must not delay the inference that other visitors wait for.
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

from models.data.data_summary import for_batches
from models.limits import in_force
from pages.shared import server_load
from pages.shared.training import settings
from pages.shared.training.tasks_on_offer import TaskInfo

if TYPE_CHECKING:
    from models.data.data_summary import DataSummary
    from models.data.tasks import Task
    from models.training.config import RunConfig


@dataclass(frozen=True)
class Prepared:
    """A run that could start now. key: of its settings. timed: its config with the threads that it will have.
    seconds: by formula, None if nobody knows. watched: the probe's text. look: what its data are.
    """

    key: str
    config: RunConfig
    timed: RunConfig
    n_parameters: int
    memory_bytes: int
    seconds: float | None
    device: str
    watched: str
    look: DataSummary


_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="preparing")
_reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reading")
"""The thread for uploaded or downloaded data, which takes seconds for each: one after another, so that no two
are in memory at once. Runs without such data do not wait for it.
"""
_made: LRUCache[str, Future[Prepared | ValueError]] = LRUCache(in_force().prepared_tasks)
_tasks: LRUCache[str, Any] = LRUCache(in_force().prepared_tasks)
"""The tasks by their options, without their data, so that changing a size of the model reads no file
again; another batch size does, for the padding."""
_looks: LRUCache[str, Any] = LRUCache(in_force().prepared_tasks)
"""What their data are, by the same keys, for the batches that were asked for last."""
_lock = threading.Lock()
"""The lock for these caches."""


def _drop() -> None:
    with _lock:
        _made.clear()
        _tasks.clear()
        _looks.clear()


server_load.cache_clearers.append(_drop)


def prepared(info: TaskInfo, values: Mapping[str, Any]) -> Prepared:
    """Prepares a run. Raises ValueError where the settings make no run or this machine cannot train it."""
    values = settings.with_paths(info, values)
    key = json.dumps([info.name, values], sort_keys=True, default=str)
    thread = _reader if _reads_files(info, values) else _thread
    if key not in _made:
        server_load.check_memory()
    with _lock:
        if key not in _made:
            _made[key] = thread.submit(_prepared_or_refused, info, values, key)
        future = _made[key]
    found = future.result()
    if isinstance(found, ValueError):
        with _lock:  # a file may be there the next time
            _made.pop(key, None)
        raise found
    return found


def _reads_files(info: TaskInfo, values: Mapping[str, Any]) -> bool:
    """Whether files have to be read first, which may be long."""
    from models.data.downloads import SOURCES

    handed_in = any(values[option.name] for option in info.options if option.file)
    if not handed_in and values.get("source") not in SOURCES:
        return False
    key = _key(info, values)
    with _lock:
        return key not in _tasks or _seen(key, values["batch_size"]) is None


def _seen(key: str, batch_size: int) -> DataSummary | None:
    """What a task's data are, where it is known for batches of this size; the lock is held."""
    found: DataSummary | None = _looks.get(key)
    return None if found is None else for_batches(found, batch_size)


def _key(info: TaskInfo, values: Mapping[str, Any]) -> str:
    options = {option.name: values[option.name] for option in info.options}
    return json.dumps([info.name, options], sort_keys=True, default=str)


def _prepared_or_refused(info: TaskInfo, values: Mapping[str, Any], run: str) -> Prepared | ValueError:
    """Prepares a run, or returns its refusal without the traceback, whose frames would keep the data."""
    from models.data.pictures import forget

    try:
        return _prepare(info, values, run)
    except ValueError as error:
        return error.with_traceback(None)
    finally:
        forget()


def _prepare(info: TaskInfo, values: Mapping[str, Any], run: str) -> Prepared:
    import torch

    from models.data.tasks.summary import summary_of
    from models.training.estimates import estimate
    from models.training.memory import check_threads, choose

    torch.set_num_threads(1)
    key = _key(info, values)
    with _lock:
        known, seen = _tasks.get(key), _seen(key, values["batch_size"])
    task = known
    if task is None or seen is None:
        task = settings.task_of(info, values)
        if known is not None:
            task.restore(known.learnt())  # its data are read again, and not learnt from again
    config = settings.run_config(info, values, task)
    training = config.training
    check_threads(training)
    # The worker has all cores, whatever this thread may use.
    training = replace(training, threads=training.threads or os.cpu_count() or 1)
    machine = choose(training)
    found = estimate(replace(config, training=training))
    watched = task.probe().text
    seen = seen or summary_of(task, training.batch_size)
    with _lock:
        _looks[key] = seen
        light = _tasks[key] = _tasks.get(key) or _without_data(task)
    config = replace(config, task=light)
    return Prepared(
        run,
        config,
        replace(config, training=training),
        found.n_parameters,
        found.memory_bytes,
        found.seconds,
        machine.sentence,
        watched,
        seen,
    )


def _without_data(task: Task) -> Task:
    """The same task with only what it learnt from its data: a text of 200 MB takes 1 GB of memory."""
    light = type(task)(**task.to_dict())
    light.restore(task.learnt())
    return light
