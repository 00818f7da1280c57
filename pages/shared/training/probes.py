"""The times of runs that stand ready to start, measured beside the pages: one thread tries the run whose
settings somebody looks at, for about a second, and again once the machine is busier or quieter than then.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import psutil
from cachetools import LRUCache

from pages.shared import server_load

if TYPE_CHECKING:
    from models.training.config import RunConfig

FRESH_SECONDS = 10.0
"""So long a time is shown without another look at how busy the machine is."""
OLD_SECONDS = 300.0
"""So long a time counts at most, however little the machine seems to have changed."""
BUSIER = 0.4
"""Cores that other work keeps busy: a difference of more than so many changes a run's time."""
_WANTED_SECONDS = 5.0  # whoever still looks asks again sooner
_LOOK_SECONDS = 0.2
_MOST_KEPT = 256


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
    looked: float


class Probes:
    """The times by the runs' keys. probe: seconds and seconds alone of a run, or None where it is too large
    to be tried; busy: how many cores are at work now.
    """

    def __init__(
        self,
        probe: Callable[[RunConfig], tuple[float, float] | None],
        busy: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._probe, self._busy, self._clock = probe, busy, clock
        self._known: LRUCache[str, _Known] = LRUCache(_MOST_KEPT)
        self._wanted: dict[str, tuple[RunConfig, float]] = {}
        self._lock = threading.Lock()
        self._working = False
        # The interpreter waits for a pool's thread as it ends; PyTorch must not be cut off in a step.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="probing")

    def drop(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._known.clear()
            self._wanted.clear()

    def look(self, key: str, config: RunConfig) -> Tried | None:
        """What is known of a run now, None before it was tried. Where it is due, it is tried (anew)."""
        now = self._clock()
        with self._lock:
            known = self._known.get(key)
            if known is None or now - known.looked > FRESH_SECONDS or known.n_cores != os.cpu_count():
                self._wanted.pop(key, None)
                self._wanted[key] = config, now  # the last that was asked for is the next
                if not self._working:
                    self._working = True
                    self._thread.submit(self._work)
        return known.tried if known else None

    def _work(self) -> None:
        while True:
            with self._lock:
                self._working = bool(self._wanted) and threading.main_thread().is_alive()
                if not self._working:
                    return
                key, (config, asked) = self._wanted.popitem()
            try:
                if self._clock() - asked < _WANTED_SECONDS:
                    self.update(key, config)
            except BaseException:
                self._working = False
                raise

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
            found = replace(known, looked=now)
        else:
            seconds, alone = self._probe(config) or (None, None)
            found = _Known(Tried(seconds, alone, busy), n_cores, now, self._clock())
        with self._lock:
            self._known[key] = found


def _probed(config: RunConfig) -> tuple[float, float] | None:
    from models.data.pictures import forget
    from models.training.estimates import probe, whole

    try:
        costs = probe(config)
        taken = None if costs is None else whole(config, costs)
    except (ValueError, OSError, RuntimeError):  # such as a file that is gone: the start says it in words
        return None
    finally:
        forget()
    return None if taken is None else (taken.seconds, taken.alone)


def busy_cores() -> float:
    """How many of the machine's cores are at work, over a fifth of a second."""
    before = psutil.cpu_times()
    time.sleep(_LOOK_SECONDS)
    spent = [after - was for after, was in zip(psutil.cpu_times(), before, strict=True)]
    idle = [spent[before._fields.index(name)] for name in ("idle", "iowait") if name in before._fields]
    return (os.cpu_count() or 1) * max(0.0, 1 - sum(idle) / max(sum(spent), 1e-9))


probes = Probes(_probed, busy_cores)
server_load.cache_clearers.append(probes.drop)
