"""One service for all that takes long: its queue is fair, its jobs are told, stopped and kept, its pages
alike.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.pages.shared import cache, server_load, visitors
from attention_lab.pages.shared.work import REPLACED, STOPPED, Asker, Job, Queue, sentence
from tests.pages.texts_of_apptest import texts


def quick(job: Job) -> str:
    return f"done: {job.request}"


def until(holds: Callable[[], Any]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


class Gate:
    """Work that tells how far it is until it is let go."""

    def __init__(self) -> None:
        self.opens, self.begun = threading.Event(), threading.Event()

    def __call__(self, job: Job) -> str:
        self.begun.set()
        while not self.opens.wait(0.005):
            job.tell(0.5, "waits")
        return quick(job)


def test_the_same_request_of_a_place_is_one_job_and_a_new_one_stops_it() -> None:
    gate = Gate()
    queue = Queue("findings", gate, smaller="take fewer texts")
    first = queue.ask("a", "page")
    assert queue.ask("a", "page") is first and queue.n_waiting == 1
    assert gate.begun.wait(30)
    until(lambda: (first.share, first.doing) == (0.5, "waits"))
    second = queue.ask("b", "page")
    assert (first.done.is_set(), first.problem, first.result) == (True, STOPPED, None)
    gate.opens.set()
    assert second.outcome() == "done: b" and second.share == 1.0
    assert first.result is None, "though it was being computed"
    assert queue.ask("b", "page") is second
    assert queue.ask("b", "page", anew=True) is not second


def test_what_a_person_stopped_stays_so_until_it_is_forgotten() -> None:
    gate = Gate()
    queue = Queue("findings", gate, smaller="take fewer texts")
    job = queue.ask("a", "page")
    job.stop()
    assert job.done.is_set() and queue.ask("a", "page") is job
    with pytest.raises(ValueError, match=STOPPED):
        job.outcome()
    gate.opens.set()
    queue.forget("page")
    assert queue.ask("a", "page").outcome() == "done: a"


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (ValueError("a window of 4 keys has no room"), "a window of 4 keys has no room"),
        (MemoryError(), "This needs more memory than there is; take fewer texts."),
        (
            RuntimeError("what a visitor typed"),
            "This failed (RuntimeError); choose another model or other numbers.",
        ),
    ],
)
def test_an_error_is_a_sentence_and_what_was_typed_is_in_no_log(
    error: Exception, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(job: Job) -> None:
        raise error

    queue = Queue("findings", fails, smaller="take fewer texts")
    job = queue.ask("typed by a visitor", "page")
    assert job.done.wait(30) and job.problem == problem
    assert "typed by a visitor" not in caplog.text
    with pytest.raises(ValueError) as refused:
        queue.result("key", fails)
    assert str(refused.value) == problem and "key" not in queue.jobs


def test_nothing_is_begun_where_the_server_holds_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise ValueError("it holds too much")

    monkeypatch.setattr(server_load, "check_memory", refuse)
    with pytest.raises(ValueError, match="it holds too much"):
        Queue("findings", smaller="").run(quick)


def test_a_result_is_kept_for_the_next_visitor() -> None:
    done: list[str] = []

    def work(job: Job) -> str:
        done.append(job.request)
        return quick(job)

    results = cache.ByteCache("test", 1_000)
    queue = Queue("findings", work, smaller="", results=results, size=len)
    assert queue.ask("a", "one").outcome() == queue.ask("a", "two").outcome()
    assert done == ["a"]
    results.drop()
    queue.forget_done()
    assert queue.ask("a", "two").outcome() and done == ["a", "a"]


def test_what_several_want_is_done_once() -> None:
    queue, done = Queue("plans", smaller=""), []
    for _ in range(2):
        assert queue.result("key", lambda job: done.append(job) or "plan") == "plan"
    assert len(done) == 1


def test_so_many_that_are_done_stay_known() -> None:
    queue = Queue("findings", quick, smaller="", keep=2)
    for place in "abcd":
        queue.ask("same", place).outcome()
    assert list(queue.jobs) == ["b", "c", "d"]


def served(most: int, *tickets: tuple[str, str, bool]) -> list[str]:
    """In which order these visitors are served, who come while another's job is done; each from an address,
    and first or not.
    """
    gate, order = Gate(), []
    queue = Queue("expensive figures", smaller="", later="choose fewer words", most=lambda: most)

    def ask(visitor: str, address: str, is_first: bool) -> None:
        def work(job: Job) -> None:
            order.append(visitor)
            if visitor == "holder":
                gate(job)

        try:
            queue.run(work, place=f"of {visitor}", asker=Asker(address, is_first))
        except ValueError as error:
            order.append(f"{visitor}: {error}")

    threads = []
    for ticket in (("holder", "h", False), *tickets):
        threads.append(threading.Thread(target=ask, args=ticket))
        threads[-1].start()
        assert gate.begun.wait(30)
        time.sleep(0.03)
    gate.opens.set()
    for thread in threads:
        thread.join()
    return order


def test_ever_new_visitors_of_one_address_make_nobody_else_wait() -> None:
    flood = [(f"new{n}", "192.0.2.1", False) for n in range(4)]
    order = served(99, *flood, ("anna", "192.0.2.2", False), ("teacher", "192.0.2.2", True))
    assert order == ["holder", "teacher", "new0", "anna", "new1", "new2", "new3"]


def test_a_place_has_one_job_which_a_newer_one_replaces() -> None:
    order = served(99, *(("", f"192.0.2.{n}", False) for n in range(4)), ("anna", "192.0.2.9", False))
    assert order == ["holder", *[f": {REPLACED}"] * 3, "", "anna"]


def test_so_many_wait_and_no_more_but_a_teacher() -> None:
    order = served(2, ("anna", "a", False), ("ben", "b", False), ("teacher", "t", True))
    full = "ben: 2 expensive figures wait already, and at most 2 may; choose fewer words."
    assert order == ["holder", full, "teacher", "anna"]


def test_who_leaves_gives_their_job_up() -> None:
    class Left(BaseException):
        pass

    def leave() -> None:
        raise Left

    gate = Gate()
    queue = Queue("figures", smaller="")
    with pytest.raises(Left):
        queue.run(gate, is_wanted=leave)
    assert queue.n_waiting == 0 and queue.run(quick).startswith("done")


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ("", ""),
        ("a window of 4 keys has no room; widen it", "A window of 4 keys has no room; widen it."),
        ("It was stopped.", "It was stopped."),
        ("mask='x' is no mask", "mask='x' is no mask."),
    ],
)
def test_a_problem_is_said_as_a_sentence(problem: str, said: str) -> None:
    assert sentence(problem) == said


def _page() -> None:
    import time

    import streamlit as st

    from attention_lab.pages.shared.work import Queue, WorkPage

    def work(job):  # type: ignore[no-untyped-def]
        while not job.stopped.is_set() and job.request == "slow":
            job.tell(0.25, "reads a Text")
            time.sleep(0.01)
        return job.request

    def request() -> str:
        if st.session_state.get("request") == "none":
            raise ValueError("there is no such text")
        return st.session_state.get("request", "quick")

    st.session_state.setdefault("session", "a page")
    page = st.session_state.setdefault(
        "page_of_work", WorkPage("t", Queue("texts", work, smaller=""), "Again")
    )

    def show(job):  # type: ignore[no-untyped-def]
        st.session_state.shown = page.last(job, "beside it")

    page.draw(request, st.container(), show, (st.container(), lambda job: st.text(f"controls of {job}"[:15])))


def test_a_page_shows_a_result_or_how_far_it_is_and_the_last_one_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visitors, "is_class", lambda: False)
    page = AppTest.from_function(_page, default_timeout=60).run()
    assert not page.exception and not page.get("progress")
    assert page.session_state.shown == ("quick", "quick", "beside it")
    page.session_state.request = "slow"
    page.run()
    (bar,) = page.get("progress")
    assert (bar.proto.text, bar.proto.value) == ("Reads a Text …", 25)
    assert page.session_state.shown == ("quick", "quick", "beside it")
    page.button[0].click().run()
    page.run()
    assert texts(page) == [STOPPED, "controls of Job"]
    assert [button.label for button in page.button] == ["Again"]
    page.session_state.request = "none"
    page.run()
    assert texts(page) == ["There is no such text.", "controls of Non"]
