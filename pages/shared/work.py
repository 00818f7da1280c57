"""All that takes long, for all visitors: queued fairly, computed beside the pages, told, stopped and kept.

A `Queue` does one kind of work, such as findings: one job after the other, by a thread of its own, which may
leave the computing to a process (pages/shared/work_process.py). A job has a place, such as an open page: a
newer one in the same place stops it. Addresses take turns, so that whoever comes from one as ever new
visitors makes nobody else wait.

A page asks for a job (`Queue.ask`) and shows `progress` until it is done, or waits for its result
(`Queue.run`).
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from bisect import bisect_right
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from cachetools import LRUCache

from attention_lab.models.limits import in_force
from attention_lab.pages.shared import server_load, st, visitors
from attention_lab.pages.shared.browser.clock import run_again
from attention_lab.pages.shared.cache import ByteCache, held_by
from attention_lab.pages.shared.page_parts import draw_parts, show_problems
from attention_lab.pages.shared.phrases import capitalised, plain, sentence
from attention_lab.pages.shared.st import DeltaGenerator
from attention_lab.pages.shared.state import problems, refuse

if TYPE_CHECKING:
    from attention_lab.models.data.tasks import Reading
    from attention_lab.models.zoo.model import Model

Result = TypeVar("Result")
MOST_WAITING = 8
STOPPED = "It was stopped."
REPLACED = "You asked for something newer; see your other tab."
POLL_SECONDS = 0.02
"""How often whoever waits is asked whether they still do."""
TELL_SECONDS = 0.4
"""Seconds between two looks of a page at how far a job is."""
BILLION = 10**9
_logger = logging.getLogger(__name__)


def any_number() -> int:
    """How many may wait where there is no limit."""
    return sys.maxsize


class StoppedError(Exception):
    """Nobody wants the result any more."""


@dataclass(frozen=True)
class Asker:
    """Whom a job is for. address: where they come from; is_first: goes before all others, and may always
    wait.
    """

    address: str = ""
    is_first: bool = False


def this_asker() -> Asker:
    """The visitor whose page this is: in a class, teachers come first."""
    if not visitors.is_class():
        return Asker()
    return Asker(visitors.network(), visitors.visitor().all_rights)


@dataclass(kw_only=True, eq=False)
class Job:
    """A piece of work on its way. share: how much is done; doing: what, as a verb; result: what there is of
    it so far; problem: a sentence, where it came to nothing; error: the error that says so.
    """

    request: Any
    doing: str = "computes"
    asker: Asker = Asker()
    share: float = 0.0
    result: Any = None
    problem: str = ""
    error: Exception | None = None
    asked_at: float = field(default_factory=time.perf_counter)
    stopped: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)

    def tell(self, share: float, doing: str = "") -> None:
        """Hears how much is done. Raises StoppedError once nobody wants it."""
        self.share, self.doing = share, doing or self.doing
        self.check()

    def part(self, doing: str, begin: float, share: float) -> Callable[[float], None]:
        """Hears how much is done of a part of the work, which begins at a share of it and has another."""
        return lambda progress: self.tell(begin + share * progress, doing)

    def check(self) -> None:
        """Raises StoppedError once nobody wants it, or the server ends: the interpreter waits for this
        thread.
        """
        if self.stopped.is_set() or not threading.main_thread().is_alive():  # the server ends
            raise StoppedError

    def stop(self, problem: str = STOPPED) -> None:
        """Gives it up. Who waits hears so at once; the work ends when it next tells how far it is."""
        self.stopped.set()
        if not self.done.is_set():
            self.problem = problem
            self.done.set()

    def finish(self, result: Any) -> None:
        self.share, self.result = 1.0, result
        self.done.set()

    def fail(self, problem: str, error: Exception | None = None) -> None:
        """Comes to nothing. The error is kept without its traceback, whose frames would keep the data."""
        if not self.done.is_set():
            self.problem, self.error = problem, error and error.with_traceback(None)
            self.done.set()

    def outcome(self, is_wanted: Callable[[], Any] = lambda: None) -> Any:
        """The result, once it is there. is_wanted: is called again and again; if it raises, the job is given
        up and the error passed on. Raises ValueError or OSError, with a sentence, where there is none.
        """
        try:
            while not self.done.wait(POLL_SECONDS):
                is_wanted()
        except BaseException:  # Streamlit's own exceptions, too, which say that nobody waits any more
            self.stop()
            raise
        if self.problem:
            raise self.error or ValueError(self.problem)
        return self.result


class Queue:
    """The jobs of one kind. name: of what, in the plural; doing: what they do, as a verb.

    work: does one that a page asks for, where not each says itself what does it. smaller: what helps where
    memory is short; later: what helps where too many wait, of which there may be `most`. results: a cache of
    results by requests, and size: the bytes of one. keep: how many jobs that are done stay known by their
    places. threads: how many are done at once.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[Job], Any] = lambda job: None,
        *,
        smaller: str,
        doing: str = "computes",
        later: str = "try again in a minute",
        most: Callable[[], int] = lambda: MOST_WAITING,
        results: ByteCache | None = None,
        size: Callable[[Any], int] = held_by,
        keep: int = MOST_WAITING,
        threads: int = 1,
    ) -> None:
        self.name, self._work, self._doing = name, work, doing
        self._smaller, self._later, self._most = smaller, later, most
        self._results, self._size, self._kept = results, size, keep
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name, initializer=_start_thread)
        self.jobs: dict[str, Job] = {}
        self._waiting: list[tuple[Job, Callable[[Job], Any]]] = []
        self._turn, self._served = 0, LRUCache[str, int](1_000)
        self._lock = threading.RLock()

    @property
    def n_waiting(self) -> int:
        """How many jobs wait or are worked on."""
        with self._lock:
            return sum(not job.done.is_set() for job in self.jobs.values())

    def ask(
        self,
        request: Any,
        place: str,
        *,
        work: Callable[[Job], Any] | None = None,
        asker: Asker | None = None,
        anew: bool = False,
        replaced: str = STOPPED,
    ) -> Job:
        """The job that a place wants, begun if it is a new one; the last one of the same place is then
        stopped, and says that it was `replaced`.

        One that a person stopped stays so until it is forgotten; one whose result is kept is done at once.
        work: what does it, where not all jobs of this kind are done alike. anew: whether one that is done is
        done again. Raises ValueError where too many wait.
        """
        job = Job(request=request, doing=self._doing, asker=asker or this_asker())
        with self._lock:
            known = self.jobs.get(place)
            if known is not None and known.request == request and not (anew and known.done.is_set()):
                return known
            if known is not None:
                known.stop(replaced)
            result = None if self._results is None else self._results.get(request)
            if result is None and self.n_waiting >= self._most() and not job.asker.is_first:
                raise ValueError(
                    f"{self.n_waiting} {self.name} wait already, and at most {self._most()} may; "
                    f"{self._later}."
                )
            self.jobs.pop(place, None)
            ended = [other for other, each in self.jobs.items() if each.done.is_set()]
            for other in ended[: max(0, len(ended) - self._kept)]:
                del self.jobs[other]
            self.jobs[place] = job
            if result is not None:
                job.finish(result)
                return job
            self._waiting.append((job, work or self._work))
        server_load.waiting.inc()
        self._threads.submit(self._do_next)
        return job

    def run(
        self,
        work: Callable[[Job], Result],
        *,
        place: str = "",
        asker: Asker | None = None,
        is_wanted: Callable[[], Any] = lambda: None,
    ) -> Result:
        """The result of `work`, as `Job.outcome` has it. place: "" for work that replaces none."""
        place = place or uuid4().hex
        job = self.ask(object(), place, work=work, asker=asker, replaced=REPLACED)
        try:
            result: Result = job.outcome(is_wanted)
        finally:
            with self._lock:
                if self.jobs.get(place) is job:
                    del self.jobs[place]
        return result

    def result(self, key: str, work: Callable[[Job], Result]) -> Result:
        """The result of `work`, once for all who want the same, which has a key; its outcome is forgotten
        where it is an error, since a file may be there the next time.
        """
        job = self.ask(key, key, work=work)
        try:
            result: Result = job.outcome()
        except (ValueError, OSError):
            self.forget(key)
            raise
        return result

    def forget(self, place: str) -> None:
        """Lets a place's next job begin anew."""
        with self._lock:
            self.jobs.pop(place, None)

    def forget_done(self) -> None:
        """Forgets all jobs that are done."""
        with self._lock:
            self.jobs = {place: job for place, job in self.jobs.items() if not job.done.is_set()}

    def _do_next(self) -> None:
        """Does the job whose turn it is: of those whose address was served the longest ago, or never, the one
        that came first.
        """
        with self._lock:
            askers = [job.asker for job, _ in self._waiting]
            ranks = [(not each.is_first, self._served.get(each.address, 0)) for each in askers]
            job, work = self._waiting.pop(ranks.index(min(ranks)))
            if not job.stopped.is_set():
                self._turn += 1
                self._served[job.asker.address] = self._turn
        try:
            if not job.stopped.is_set():
                self._do(job, work)
        finally:
            server_load.waiting.dec()
            job.done.set()

    def _do(self, job: Job, work: Callable[[Job], Any]) -> None:
        try:
            with server_load.counted_working(self.name, job.asked_at):
                job.check()
                server_load.check_memory()
                result = work(job)
                job.check()
            if self._results is not None:
                self._results.put(job.request, result, self._size(result))
            job.finish(result)
        except StoppedError:
            job.stop()
        except ValueError as error:
            job.fail(str(error), error)
        except MemoryError:
            job.fail(f"This needs more memory than there is; {self._smaller}.")
        except Exception as error:  # nobody would hear of it, since nobody asks this thread for a result
            _logger.exception("%s", self.name)
            job.fail(
                f"This failed ({type(error).__name__}); choose another model or other numbers.",
                error if isinstance(error, OSError) else None,
            )


def _start_thread() -> None:
    import torch

    torch.set_num_threads(1)  # the other cores answer sliders


def check_price(
    model: Model, reading: Reading, smaller: str, *, passes: int = 1, waits: bool = False
) -> None:
    """Raises ValueError for traces that are too expensive, with the number of tokens that would not be.

    One thread computes for all visitors; a person who is alone waits for nobody else's figure. smaller: what
    else would help. passes: how often the text is read. waits: whether in a class others wait meanwhile.
    """
    lengths = tuple(map(len, reading.tokens.values()))
    price, most = passes * model.operations(lengths), most_operations(waits=waits)
    if price <= most:
        return
    longest = max(lengths)

    def price_of(n: int) -> int:
        return passes * model.operations([min(n, each) for each in lengths])

    few = bisect_right(range(1, longest + 1), most, key=price_of)
    can_shorten = few and reading.picture is None
    shorter = f"at most {few:,} tokens instead of {longest:,}, " if can_shorten else ""
    smaller = smaller if can_shorten else smaller.removeprefix("or ")
    raise ValueError(
        f"This takes {price / BILLION:,.0f} billion operations, over {most / BILLION:,.0f} billion; "
        f"take {shorter}{smaller}."
    )


def most_operations(*, waits: bool = False) -> int:
    """The most operations of a figure; waits: for which in a class others wait meanwhile."""
    limits = in_force()
    of_class = limits.cheap_billions if waits else limits.explore_billions
    return BILLION * (of_class if visitors.is_class() else limits.alone_billions)


def progress(job: Job, *, key: str = "work.stop", may_stop: bool = True) -> None:
    """How far a job is, with a way to stop it; the page is drawn anew once it is done."""
    st.fragment(_progress)(job, key, may_stop)


def _progress(job: Job, key: str, may_stop: bool) -> None:
    if job.done.is_set():
        st.rerun()
    run_again(TELL_SECONDS, key)
    st.progress(min(1.0, job.share), text=f"{plain(capitalised(job.doing))} …")
    if may_stop:
        st.button("Stop", key=key, on_click=job.stop)


def this_page() -> str:
    """This open page: two of one visitor do not stop each other."""
    return str(st.session_state.session)


class WorkPage:
    """A page that shows what a queue computes from its inputs, or how far that is.

    again: the label of the button after a stop. seconds: so long the page is not drawn, as most is done then.
    """

    def __init__(self, name: str, queue: Queue, again: str, seconds: float = 0.15) -> None:
        self.name, self.queue, self._again, self._seconds = name, queue, again, seconds

    def draw(
        self,
        request: Callable[[], Any],
        main: DeltaGenerator,
        show: Callable[[Job], None],
        *controls: tuple[DeltaGenerator, Callable[[Job | None], None]],
        remark: Callable[[Job], str] = lambda job: "",
    ) -> None:
        """Draws what was computed, with controls around it. request: raises ValueError where the inputs make
        none. show: draws the result in the main part; while another is computed, too, so that the last one
        may stay. remark: what is said of a result.
        """
        try:
            job = self.queue.ask(request(), this_page())
        except ValueError as error:
            for place, draw in controls:
                with place:
                    draw(None)
            with main:
                show_problems([sentence(str(error)), *problems()])
            return
        job.done.wait(self._seconds)
        parts = [(place, partial(draw, job)) for place, draw in controls]
        draw_parts([*parts, (main, partial(self._main, job, show, remark))], again=job.done.is_set())

    def _main(self, job: Job, show: Callable[[Job], None], remark: Callable[[Job], str]) -> None:
        is_done, refused = job.done.is_set(), problems()
        if not is_done:
            refuse(*refused)  # to be said again, once this is drawn anew, which may be at once
            progress(job)
        show_problems([sentence(job.problem) or remark(job) if is_done else None, *refused])
        if is_done and job.problem == STOPPED:
            st.button(self._again, on_click=self.queue.forget, args=(this_page(),))
        show(job)

    def last(self, job: Job, *with_it: Any, key: str = "") -> tuple[Any, ...] | None:
        """The request and the result that the page showed last under a key, with what was kept with them:
        those of this job, if it is done.
        """
        results: dict[str, tuple[Any, ...]] = st.session_state.setdefault(f"{self.name}.shown", {})
        if job.done.is_set() and job.result is not None:
            results[key] = (job.request, job.result, *with_it)
        return results.get(key)
