"""Modules are imported one after the other, whichever threads ask for them.

Python locks each module by itself. Where one thread imports a package whose `__init__` imports its parts, and
another begins with a part, each waits for the other; Python notices and hands out a half-made module: an
ImportError for a visitor. In a class that arrives while the server is still cold this happens (seen with four
visitors on four pages).

This is undocumented: it leans on the private function that Python calls for a module that is not there yet.
tests/pages/shared/test_imports.py fails when it goes.
"""

import sys
import threading
from types import ModuleType
from typing import Any

_machinery: Any = sys.modules["_frozen_importlib"]
_lock = threading.RLock()


def one_at_a_time() -> None:
    """Makes imports wait for each other from now on; to be called before visitors come, once or more."""
    find_and_load = _machinery._find_and_load
    if getattr(find_and_load, "waits", False):
        return

    def waiting(name: str, import_: Any) -> ModuleType:
        with _lock:
            loaded: ModuleType = find_and_load(name, import_)
            return loaded

    setattr(waiting, "waits", True)  # noqa: B010
    _machinery._find_and_load = waiting
