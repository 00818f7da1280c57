"""What every lab page shows beside its board."""

import inspect
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from attention_lab.pages.lab import lesson as lesson_module


def test_the_code_that_ran_is_read_by_one_visitor_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson: Any = SimpleNamespace(code=(State, Kept))
    shown: list[str] = []
    reading, most = 0, 0
    original = inspect.getsource

    def getsource(made_by: Any) -> str:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        time.sleep(0.02)
        reading -= 1
        return original(made_by)

    monkeypatch.setattr(lesson_module.inspect, "getsource", getsource)
    visitors = [threading.Thread(target=lambda: shown.append(lesson_module.source(lesson))) for _ in range(4)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    assert most == 1
    assert shown == ["class State:\n    step = 1\n\nclass Kept:\n    step = 2"] * 4


class State:
    step = 1


class Kept:
    step = 2
