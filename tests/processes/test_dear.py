"""Dear work in a process of its own: what comes out of it, and all the ways in which it does not."""

import operator
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from benchmarks import servers
from benchmarks.visitors import measure
from pages.shared.dear import Workshop
from tools.background import serving_the_app


def always() -> None:
    pass


@pytest.fixture
def shop() -> Iterator[Workshop]:
    made = Workshop(seconds=30, megabytes=200)
    yield made
    made._end()


def test_what_a_function_makes_comes_back_and_what_it_raises_is_raised(shop: Workshop) -> None:
    assert shop.run(operator.add, 2, 3, visitor="a", is_wanted=always) == 5
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        shop.run(operator.truediv, 1, 0, visitor="a", is_wanted=always)
    first = shop.run(os.getpid, visitor="a", is_wanted=always)
    assert first == shop.run(os.getpid, visitor="b", is_wanted=always) != os.getpid()


def test_what_takes_too_much_memory_is_refused_and_the_next_is_not(shop: Workshop) -> None:
    with pytest.raises(ValueError, match=r"This takes more than 200 MB of memory.*choose fewer words"):
        shop.run(bytearray, 400_000_000, visitor="a", is_wanted=always)
    assert len(shop.run(bytearray, 10_000_000, visitor="a", is_wanted=always)) == 10_000_000


def test_a_process_that_the_system_ends_is_told_of_and_started_again(shop: Workshop) -> None:
    with pytest.raises(ValueError, match="This takes more than 200 MB of memory"):
        shop.run(os._exit, 9, visitor="a", is_wanted=always)
    assert shop.run(operator.add, 1, 1, visitor="a", is_wanted=always) == 2


def test_what_takes_too_long_is_ended(shop: Workshop) -> None:
    shop.run(os.getpid, visitor="a", is_wanted=always)
    shop.seconds = 0.3
    with pytest.raises(ValueError, match=r"This took longer than 0\.3 seconds"):
        shop.run(time.sleep, 60, visitor="a", is_wanted=always)
    assert shop._process is None and shop._queue == []


def test_who_leaves_drops_their_work_and_a_newer_wish_replaces_an_older_one(shop: Workshop) -> None:
    class Left(BaseException):
        pass

    def leave() -> None:
        if time.monotonic() > end:
            raise Left

    shop.run(os.getpid, visitor="a", is_wanted=always)
    end = time.monotonic() + 0.3
    with pytest.raises(Left):
        shop.run(time.sleep, 60, visitor="a", is_wanted=leave)
    found: dict[str, object] = {}

    def ask(name: str, visitor: str, seconds: float) -> None:
        try:
            found[name] = shop.run(time.sleep, seconds, visitor=visitor, is_wanted=always)
        except ValueError as error:
            found[name] = str(error)

    asking = [
        threading.Thread(target=ask, args=given)
        for given in (("first", "a", 60), ("other", "b", 0.1), ("second", "a", 0.1))
    ]
    for thread in asking:
        thread.start()
        time.sleep(0.3)
    for thread in asking:
        thread.join(timeout=60)
    assert found == {
        "first": "Something newer that you asked for is computed instead; see your other tab.",
        "other": None,
        "second": None,
    }


def test_in_a_class_a_dear_link_comes_from_the_process(tmp_path: Path) -> None:
    dear = {"n_layers": 8, "n_heads": 16, "d_model": 512, "d_head": 128, "positions": "transformer-xl"}
    with serving_the_app(tmp_path / "log.txt", ATTENTION_LAB_CLASS="1") as server:
        report = measure(server.url, users=1, changes=1, query=servers.untrained(300, **dear), slider="Seed")
        assert report.errors == []
        children = psutil.Process(server.process.pid).children(recursive=True)
        assert any("spawn_main" in " ".join(child.cmdline()) for child in children)
