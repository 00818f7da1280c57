"""What a sweep would be and cost, worked out on a thread of its own: it makes the task and measures a run."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from models.limits import in_force
from models.runs.owners import Visitor
from models.sweeps import Spec, Sweep, create, start, usual_slots
from pages.shared import memory

if TYPE_CHECKING:
    from models.sweeps.estimates import Estimate


@dataclass(frozen=True)
class Planned:
    """A sweep that could start now: in words, and what it would cost."""

    spec: Spec
    sentence: str
    n_runs: int
    n_slots: int
    cost: Estimate


_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="planning")
_made: LRUCache[str, Future[Planned | ValueError]] = LRUCache(in_force().prepared_tasks)
_lock = threading.Lock()


def _drop() -> None:
    with _lock:
        _made.clear()


memory.droppers.append(_drop)


def planned(spec: Spec, by: Visitor) -> Planned:
    """Plans a sweep. Raises ValueError, in a sentence, for one that could not start."""
    asked: dict[str, Any] = spec.to_dict() | {"name": ""}
    key = json.dumps([asked, by.id, by.all_rights], sort_keys=True, default=str)
    with _lock:
        future = _made.get(key)
    if future is None:
        memory.check()
        with _lock:
            future = _made.setdefault(key, _thread.submit(_planned_or_refused, spec, by))
    found = future.result()
    if isinstance(found, ValueError):
        with _lock:  # a file may be there the next time
            _made.pop(key, None)
        raise found
    return found


def _planned_or_refused(spec: Spec, by: Visitor) -> Planned | ValueError:
    """A plan, or its refusal without the traceback, whose frames would keep the data."""
    from models.data.pictures import forget

    try:
        return _plan(spec, by)
    except ValueError as error:
        return error.with_traceback(None)
    finally:
        forget()


def _plan(spec: Spec, by: Visitor) -> Planned:
    import torch

    from models.runs import limits
    from models.sweeps.estimates import estimated
    from models.sweeps.plan import plan

    torch.set_num_threads(1)
    found = plan(spec, by=by)
    limits.check_rights(found.config.training, by, keep_going=False)
    limits.check_threads(found.config.training)
    n_slots = usual_slots()
    threads = found.config.training.threads or max(1, (os.cpu_count() or 1) // n_slots)
    cost = estimated(found, n_slots=n_slots, threads=threads)
    return Planned(found.spec, found.sentence, found.n_runs, n_slots, cost)


def begin(spec: Spec, by: Visitor) -> Sweep:
    """Makes a sweep and lets it work. Raises ValueError or OSError, in a sentence, where that is refused."""

    def make() -> Sweep | Exception:
        try:
            made = create(spec, by=by)
            start(made.name, by=by)
            return made
        except (ValueError, OSError) as error:
            return error.with_traceback(None)

    found = _thread.submit(make).result()
    if isinstance(found, Exception):
        raise found
    return found
