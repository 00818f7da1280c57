"""What the server counts of its own work, for Prometheus, and what it does when it holds too much memory.

Times and amounts are counted, never what a visitor typed; `make serve` gathers them from all servers
and shows them on a port of its own (tools/serving/servers.py). A server of a class that holds too much
memory keeps nothing and begins nothing costly: each cache of the app joins `cache_clearers`. The
processes for expensive work and training runs have limits of their own.
"""

import ctypes
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
from prometheus_client import Gauge, Histogram

from attention_lab.models.byte_units import MB, readable
from attention_lab.models.limits import in_force
from attention_lab.pages.shared import visitors

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_work = Histogram(
    "attention_lab_work_seconds", "Seconds on the inference thread, by kind.", ["kind"], buckets=_SECONDS
)
_waited = Histogram(
    "attention_lab_wait_seconds", "Seconds that work waited for that thread.", buckets=_SECONDS
)
waiting = Gauge("attention_lab_waiting", "Pieces of work that wait or run.", multiprocess_mode="livesum")
cache_bytes = Gauge("attention_lab_cache_bytes", "Bytes in a cache.", ["cache"], multiprocess_mode="livesum")


@contextmanager
def counted_working(kind: str, asked_at: float) -> Iterator[None]:
    """Around work while it is done. asked_at: by time.perf_counter."""
    _waited.observe(time.perf_counter() - asked_at)
    with _work.labels(kind).time():
        yield


cache_clearers: list[Callable[[], None]] = []
"""Functions that empty a cache each."""

PAUSE_SECONDS = 5.0
"""The least time from one drop of everything to the next: it takes a while, and all visitors ask."""

_lock = threading.Lock()
_dropped_at = -PAUSE_SECONDS


def check_memory() -> None:
    """To be called before anything costly. Drops all caches where a server of a class holds too much.

    Raises ValueError, with a sentence, where it still does.
    """
    most = in_force().server_mb * MB
    if not visitors.is_class() or resident() <= most:
        return
    _drop()
    n_bytes = resident()
    if n_bytes > most:
        raise ValueError(
            f"This server holds {readable(n_bytes)} of memory, more than its {readable(most)} (server_mb); "
            "try again in a minute, or ask its keeper to restart it."
        )


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(psutil.Process().memory_info().rss)


def _drop() -> None:
    """Empties every cache, and gives the memory back to the system."""
    global _dropped_at
    with _lock:
        if time.monotonic() - _dropped_at < PAUSE_SECONDS:
            return
        for drop in cache_clearers:
            drop()
        gc.collect()
        if sys.platform == "linux":
            # The C library keeps freed memory otherwise; other libraries than GNU's lack the function.
            trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
            if trim:
                trim(0)
        _dropped_at = time.monotonic()
