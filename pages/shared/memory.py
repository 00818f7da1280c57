"""The memory of this server in a class: where it holds too much, it keeps nothing and begins nothing costly.

Each cache of the app joins `droppers`. The process for dear work and training runs have limits of their own.
"""

import ctypes
import gc
import sys
import threading
import time
from collections.abc import Callable

import psutil

from models.byte_units import MB, readable
from models.limits import in_force
from pages.shared import visitors

droppers: list[Callable[[], None]] = []
"""Functions that empty a cache each."""

PAUSE_SECONDS = 5.0
"""The least time from one drop of everything to the next: it takes a while, and all visitors ask."""

_lock = threading.Lock()
_dropped_at = -PAUSE_SECONDS


def check() -> None:
    """To be called before anything costly. Drops all caches where a server of a class holds too much.

    Raises ValueError, with a sentence, where it still does.
    """
    most = in_force().server_mb * MB
    if not visitors.is_class() or resident() <= most:
        return
    _drop()
    held = resident()
    if held > most:
        raise ValueError(
            f"This server holds {readable(held)} of memory, and at most {readable(most)} are given to it "
            "(server_mb): it computes nothing new until it holds less; try again in a minute, or ask whoever "
            "serves to start it anew."
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
        for drop in droppers:
            drop()
        gc.collect()
        if sys.platform == "linux":
            # The C library keeps freed memory otherwise; other libraries than GNU's lack the function.
            trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
            if trim:
                trim(0)
        _dropped_at = time.monotonic()
