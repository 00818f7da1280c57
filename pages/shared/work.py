"""What open pages want computed that takes long: one job a page, one after the other by a thread of its
own, told and stopped from the page; and what the page shows meanwhile.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import streamlit as st

from pages.shared import server_load
from pages.shared.wording import plain

MOST_WAITING = 8
STOPPED = "It was stopped."
_logger = logging.getLogger(__name__)


class StoppedError(Exception):
    """Nobody wants the answer any more."""


@dataclass(kw_only=True)
class Job:
    """One on its way. share: how much is done; doing: what, as a verb; problem: a sentence, where it came to
    nothing.
    """

    share: float = 0.0
    doing: str = "computes"
    problem: str = ""
    stopped: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    asked: Any

    def tell(self, share: float) -> None:
        """Hears how much is done. Raises StoppedError once nobody wants it."""
        self.share = share
        if self.stopped.is_set():
            raise StoppedError

    def stop(self) -> None:
        """Gives it up. Who waits hears so at once; the work ends when it next tells how far it is."""
        self.stopped.set()
        if not self.done.is_set():
            self.problem = STOPPED
            self.done.set()


Kind = TypeVar("Kind", bound=Job)


def start_worker() -> None:
    """What a thread does first that computes for one page while others move sliders."""
    import torch

    torch.set_num_threads(1)  # the other cores answer sliders


class Jobs(Generic[Kind]):
    """The wishes of all open pages. name: of what, in the plural. do: fulfils one; a ValueError of its own is
    what the page says. less: what to take less of where memory is short.
    """

    def __init__(self, name: str, do: Callable[[Kind], None], less: str) -> None:
        self.name, self._do, self._less = name, do, less
        self.worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name, initializer=start_worker)
        self.works: dict[str, Kind] = {}
        self._lock = threading.Lock()

    def ask(self, wish: Kind, page: str) -> Kind:
        """A page's wish, begun if it is a new one; the last wish of the same open page is then stopped.

        One that a person stopped stays so until it is forgotten; one that is done already is only kept.
        Raises ValueError where too many wait.
        """
        with self._lock:
            known = self.works.get(page)
            if known is not None and known.asked == wish.asked:
                return known
            if known is not None:
                known.stop()
            waiting = sum(not work.done.is_set() for work in self.works.values())
            if not wish.done.is_set() and waiting >= MOST_WAITING:
                raise ValueError(
                    f"{waiting} {self.name} are waiting, at most {MOST_WAITING} may; try again later."
                )
            self.works[page] = wish
            finished = [name for name, each in self.works.items() if each.done.is_set() and name != page]
            for other in finished[:-MOST_WAITING]:
                del self.works[other]
        if not wish.done.is_set():
            self.worker.submit(self._fulfil, wish)
        return wish

    def forget(self, page: str) -> None:
        """Lets a page's next wish begin anew."""
        with self._lock:
            self.works.pop(page, None)

    def _fulfil(self, wish: Kind) -> None:
        try:
            wish.tell(0.0)
            server_load.check_memory()
            self._do(wish)
        except StoppedError:
            wish.problem = STOPPED
        except ValueError as error:
            wish.problem = str(error)
        except MemoryError:
            wish.problem = f"This needs more memory than there is; take {self._less} or a smaller model."
        except Exception as error:  # nobody would hear of it, since nobody asks this thread for a result
            _logger.exception("%s: %r", self.name, wish.asked)
            wish.problem = (
                f"This met an error of its own ({type(error).__name__}); choose another model, or other "
                "numbers. What the server prints says where."
            )
        finally:
            wish.done.set()


POLL_SECONDS = 0.4
"""Seconds between two looks at how far a wish is."""


@st.fragment(run_every=POLL_SECONDS)
def progress(work: Job) -> None:
    """How far the work is, with a way to stop it; the page is drawn anew once it is done."""
    if work.done.is_set():
        st.rerun()
    st.progress(min(1.0, work.share), text=f"{plain(work.doing.capitalize())} …")
    st.button("Stop", on_click=work.stop)


def this_page() -> str:
    """This open page: two of one visitor do not stop each other."""
    return str(st.session_state.session)


def sentence(problem: str) -> str:
    """A problem as a sentence: a capital, but where it begins with what was typed, and its full stop."""
    if not problem:
        return ""
    first = problem[0] if "=" in problem.split()[0] else problem[0].upper()
    return f"{first}{problem[1:].removesuffix('.')}."
