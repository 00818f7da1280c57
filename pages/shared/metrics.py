"""What the server counts of its own work, for Prometheus: times and amounts, never what a visitor typed.

`make serve` gathers it from all servers and shows it on a port of its own (tools/serving/metrics.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Gauge, Histogram

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_work = Histogram(
    "attention_lab_work_seconds", "Seconds on the inference thread, by kind.", ["kind"], buckets=_SECONDS
)
_waited = Histogram(
    "attention_lab_wait_seconds", "Seconds that work waited for that thread.", buckets=_SECONDS
)
_waiting = Gauge("attention_lab_waiting", "Pieces of work that wait or run.", multiprocess_mode="livesum")
cache_bytes = Gauge("attention_lab_cache_bytes", "Bytes in a cache.", ["cache"], multiprocess_mode="livesum")


@contextmanager
def queued() -> Iterator[None]:
    """Counts a piece of work as waiting, from the moment that it is asked for."""
    _waiting.inc()
    try:
        yield
    finally:
        _waiting.dec()


@contextmanager
def working(kind: str, asked_at: float) -> Iterator[None]:
    """Around work while it is done. asked_at: by time.perf_counter."""
    start = time.perf_counter()
    _waited.observe(start - asked_at)
    try:
        yield
    finally:
        _work.labels(kind).observe(time.perf_counter() - start)
