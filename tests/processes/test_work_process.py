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

from attention_lab.models.limits import FILE
from attention_lab.pages.shared import work_process
from attention_lab.pages.shared.work_process import ProcessQueue, WorkProcess
from benchmarks import servers
from benchmarks.visitors import measure
from tests.limits import write_limits
from tools.background_servers import serving_the_app


@pytest.fixture
def process() -> Iterator[WorkProcess]:
    made = WorkProcess(seconds=30, megabytes=200)
    yield made
    made.end()


def wanted() -> None:
    pass


def call(process: WorkProcess, function: Callable[..., Any], *given: Any) -> Any:
    return process.call(function, given, wanted)


class TwoWordsError(ValueError):
    """An error that cannot be put together again from its text alone."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


def refuse() -> None:
    raise TwoWordsError("salt", "pepper")


def fail(typed: str) -> None:
    raise LookupError(typed)


def test_what_a_function_makes_comes_back_and_so_does_the_sentence_of_what_it_refuses(
    process: WorkProcess,
) -> None:
    assert call(process, operator.add, 2, 3) == 5
    with pytest.raises(ValueError) as refused:
        call(process, refuse)
    assert str(refused.value) == "salt and pepper"
    first = call(process, os.getpid)
    assert first == call(process, os.getpid) != os.getpid()


def test_errors_and_what_cannot_be_sent_become_a_sentence(
    process: WorkProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    for function, given, name in [
        (operator.truediv, (1, 0), "ZeroDivisionError"),
        (fail, ("what a visitor typed",), "LookupError"),
        (threading.Lock, (), "TypeError"),  # a result that no pipe takes
    ]:
        with pytest.raises(ValueError) as refused:
            call(process, function, *given)
        assert str(refused.value) == (
            f"The process failed ({name}); try again, or choose fewer words, layers or heads."
        )
    printed = capfd.readouterr().err
    assert "LookupError in the process for dear work" in printed and "what a visitor typed" not in printed
    assert call(process, operator.add, 1, 1) == 2


def test_what_takes_too_much_memory_is_refused_and_the_next_is_not(process: WorkProcess) -> None:
    with pytest.raises(ValueError, match=r"This takes over 200 MB of memory.*choose fewer words"):
        call(process, bytearray, 400_000_000)
    assert len(call(process, bytearray, 10_000_000)) == 10_000_000


@pytest.mark.parametrize(
    ("end", "given", "how"),
    [
        (os._exit, (9,), "ended with the code 9"),
        (signal.raise_signal, (signal.SIGKILL,), "was ended by the signal SIGKILL"),
    ],
)
def test_a_process_that_ends_is_told_of_as_it_ended_and_started_again(
    process: WorkProcess,
    end: Callable[..., Any],
    given: tuple[Any, ...],
    how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ValueError) as refused:
        call(process, end, *given)
    said = f"The process that computed this {how}; try again, or choose fewer words, layers or heads."
    assert str(refused.value) == said
    assert call(process, operator.add, 1, 1) == 2
    monkeypatch.setattr(work_process, "oom_kills", lambda: 10**9)
    starved = "The machine ran out of memory"
    with pytest.raises(ValueError, match=starved if end is signal.raise_signal else how):
        call(process, end, *given)


def test_a_process_that_does_not_start_is_told_of(
    process: WorkProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_process, "START_SECONDS", 0.01)
    with pytest.raises(ValueError) as refused:
        call(process, os.getpid)
    assert str(refused.value) == (
        "The process for one visitor's figure did not start in 0.01 seconds; try again in a minute."
    )
    assert process.process is None


def test_what_takes_too_long_is_ended(process: WorkProcess) -> None:
    call(process, os.getpid)
    process.seconds = 0.3
    with pytest.raises(ValueError, match=r"This took over 0\.3 seconds"):
        call(process, time.sleep, 60)
    assert process.process is None


def test_who_leaves_ends_the_process_and_the_next_gets_another(process: WorkProcess) -> None:
    class Left(BaseException):
        pass

    def leave() -> None:
        if time.monotonic() > end:
            raise Left

    queue = ProcessQueue("figures", process)
    queue.call(os.getpid, place="of a")
    end = time.monotonic() + 0.3
    with pytest.raises(Left):
        queue.call(time.sleep, 60, place="of a", is_wanted=leave)
    assert queue.call(operator.add, 1, 1, place="of b") == 2
    assert queue.n_waiting == 0 and not queue.jobs


def test_in_a_class_a_dear_link_comes_from_the_process(tmp_path: Path) -> None:
    dear = {"n_layers": 8, "n_heads": 16, "d_model": 512, "d_head": 128, "positions": "transformer-xl"}
    limits = write_limits(tmp_path / "limits.toml", dear_seconds=600)  # on a busy machine it takes longer
    with serving_the_app(tmp_path / "log.txt", **{FILE: str(limits), "ATTENTION_LAB_CLASS": "1"}) as server:
        report = measure(server.url, users=1, changes=1, query=servers.untrained(300, **dear), slider="Seed")
        assert report.errors == []
        children = psutil.Process(server.process.pid).children(recursive=True)
        assert any("spawn_main" in " ".join(child.cmdline()) for child in children)
