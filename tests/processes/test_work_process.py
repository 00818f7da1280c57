"""Dear work in a process of its own: what comes out of it, and all the ways in which it does not."""

import operator
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchmarks import servers
from benchmarks.visitors import measure
from models.limits import FILE
from pages.shared import work_process
from pages.shared.work_process import WorkQueue
from tests.limits import SetLimits, write_limits
from tools.background_servers import serving_the_app


def always() -> None:
    pass


@pytest.fixture
def shop() -> Iterator[WorkQueue]:
    made = WorkQueue(seconds=30, megabytes=200)
    yield made
    made._end()


class TwoWordsError(ValueError):
    """An error that cannot be put together again from its text alone."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


def refuse() -> None:
    raise TwoWordsError("salt", "pepper")


def fail(typed: str) -> None:
    raise LookupError(typed)


def test_what_a_function_makes_comes_back_and_so_does_the_sentence_of_what_it_refuses(
    shop: WorkQueue,
) -> None:
    assert shop.run(operator.add, 2, 3, visitor="a", is_wanted=always) == 5
    with pytest.raises(ValueError) as refused:
        shop.run(refuse, visitor="a", is_wanted=always)
    assert str(refused.value) == "salt and pepper"
    first = shop.run(os.getpid, visitor="a", is_wanted=always)
    assert first == shop.run(os.getpid, visitor="b", is_wanted=always) != os.getpid()


def test_errors_and_what_cannot_be_sent_become_a_sentence(
    shop: WorkQueue, capfd: pytest.CaptureFixture[str]
) -> None:
    for function, given, name in [
        (operator.truediv, (1, 0), "ZeroDivisionError"),
        (fail, ("what a visitor typed",), "LookupError"),
        (threading.Lock, (), "TypeError"),  # a result that no pipe takes
    ]:
        with pytest.raises(ValueError) as refused:
            shop.run(function, *given, visitor="a", is_wanted=always)
        assert str(refused.value) == (
            f"The process that computed this met an error of its own ({name}); try again, or choose fewer "
            "words, layers or heads. What the server prints says where."
        )
    printed = capfd.readouterr().err
    assert "LookupError in the process for dear work" in printed and "what a visitor typed" not in printed
    assert shop.run(operator.add, 1, 1, visitor="a", is_wanted=always) == 2


def test_what_takes_too_much_memory_is_refused_and_the_next_is_not(shop: WorkQueue) -> None:
    with pytest.raises(ValueError, match=r"This takes more than 200 MB of memory.*choose fewer words"):
        shop.run(bytearray, 400_000_000, visitor="a", is_wanted=always)
    assert len(shop.run(bytearray, 10_000_000, visitor="a", is_wanted=always)) == 10_000_000


@pytest.mark.parametrize(
    ("end", "given", "how"),
    [
        (os._exit, (9,), "ended with the code 9"),
        (signal.raise_signal, (signal.SIGKILL,), "was ended by the signal SIGKILL"),
    ],
)
def test_a_process_that_ends_is_told_of_as_it_ended_and_started_again(
    shop: WorkQueue,
    end: Callable[..., Any],
    given: tuple[Any, ...],
    how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ValueError) as refused:
        shop.run(end, *given, visitor="a", is_wanted=always)
    said = f"The process that computed this {how}; try again, or choose fewer words, layers or heads."
    assert str(refused.value) == said
    assert shop.run(operator.add, 1, 1, visitor="a", is_wanted=always) == 2
    monkeypatch.setattr(work_process, "n_starved", lambda: 10**9)
    starved = "The machine ran out of memory, and the system ended the process that computed this"
    with pytest.raises(ValueError, match=starved if end is signal.raise_signal else how):
        shop.run(end, *given, visitor="a", is_wanted=always)


def test_a_process_that_does_not_start_is_told_of(shop: WorkQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_process, "START_SECONDS", 0.01)
    with pytest.raises(ValueError) as refused:
        shop.run(os.getpid, visitor="a", is_wanted=always)
    assert str(refused.value) == (
        "The process for one visitor's figure did not start within 0.01 seconds, since this machine is busy; "
        "try again in a minute."
    )
    assert shop._process is None


def test_what_takes_too_long_is_ended(shop: WorkQueue) -> None:
    shop.run(os.getpid, visitor="a", is_wanted=always)
    shop.seconds = 0.3
    with pytest.raises(ValueError, match=r"This took longer than 0\.3 seconds"):
        shop.run(time.sleep, 60, visitor="a", is_wanted=always)
    assert shop._process is None and shop._queue == []


def test_who_leaves_drops_their_work_and_a_newer_wish_replaces_an_older_one(shop: WorkQueue) -> None:
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


def queued(shop: WorkQueue, *tickets: tuple[str, str, bool]) -> list[str]:
    """In which order these visitors are served, who come while another's piece is computed; each from an
    address, and first or not.
    """
    served: list[str] = []

    def ask(visitor: str, address: str, is_first: bool) -> None:
        try:
            shop.run(
                time.sleep, 0.5 if visitor == "holder" else 0.0, visitor=visitor, address=address,
                is_first=is_first, is_wanted=always,
            )  # fmt: skip
            served.append(visitor)
        except ValueError as error:
            served.append(f"{visitor}: {error}")

    shop.run(operator.add, 1, 1, visitor="warm", is_wanted=always)
    threads = []
    for ticket in (("holder", "h", False), *tickets):
        threads.append(threading.Thread(target=ask, args=ticket))
        threads[-1].start()
        time.sleep(0.03)
    for thread in threads:
        thread.join()
    return served


def test_ever_new_visitors_of_one_address_make_nobody_else_wait(shop: WorkQueue) -> None:
    flood = [(f"new{n}", "192.0.2.1", False) for n in range(4)]
    served = queued(shop, *flood, ("anna", "192.0.2.2", False), ("teacher", "192.0.2.2", True))
    assert served == ["holder", "teacher", "new0", "anna", "new1", "new2", "new3"]


def test_who_keeps_no_cookie_has_one_place_with_all_others_of_that_kind(shop: WorkQueue) -> None:
    served = queued(shop, *(("", f"192.0.2.{n}", False) for n in range(4)), ("anna", "192.0.2.9", False))
    assert [each.partition(":")[0] for each in served if ":" in each] == ["", "", ""]
    assert [each for each in served if ":" not in each] == ["holder", "", "anna"]


def test_so_many_wait_and_no_more_but_a_teacher(shop: WorkQueue, set_limits: SetLimits) -> None:
    set_limits(dear_waiting=2)
    served = queued(shop, ("anna", "a", False), ("ben", "b", False), ("teacher", "t", True))
    assert served == [
        "ben: 2 expensive figures wait already, and at most 2 may; choose fewer words, layers or heads, or "
        "try again in a minute.",
        "holder",
        "teacher",
        "anna",
    ]


def test_in_a_class_a_dear_link_comes_from_the_process(tmp_path: Path) -> None:
    dear = {"n_layers": 8, "n_heads": 16, "d_model": 512, "d_head": 128, "positions": "transformer-xl"}
    limits = write_limits(tmp_path / "limits.toml", dear_seconds=600)  # on a busy machine it takes longer
    with serving_the_app(tmp_path / "log.txt", **{FILE: str(limits), "ATTENTION_LAB_CLASS": "1"}) as server:
        report = measure(server.url, users=1, changes=1, query=servers.untrained(300, **dear), slider="Seed")
        assert report.errors == []
        children = psutil.Process(server.process.pid).children(recursive=True)
        assert any("spawn_main" in " ".join(child.cmdline()) for child in children)
