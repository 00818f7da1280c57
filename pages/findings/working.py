"""Findings being measured: by a thread of their own, one after the other, told and stopped from the page."""

from __future__ import annotations

import logging
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import models as _before_torch  # noqa: F401  (so that torch's idle threads sleep)
from models.findings import Outcome, findings
from pages.shared import cache, memory

MOST_WAITING = 8
_logger = logging.getLogger(__name__)


class StoppedError(Exception):
    """Nobody wants the answer any more."""


@dataclass(frozen=True)
class Asked:
    """What a page wants measured. model: "" for a finding about runs. stamp: of the model's weights."""

    finding: str
    model: str
    stamp: int
    parameters: tuple[tuple[str, Any], ...]


@dataclass
class Work:
    """One measurement on its way. share: how much is done; problem: a sentence, where it came to nothing."""

    asked: Asked
    share: float = 0.0
    outcome: Outcome | None = None
    problem: str = ""
    stopped: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)

    def tell(self, share: float) -> None:
        """Hears how much is done. Raises StoppedError once nobody wants it."""
        self.share = share
        if self.stopped.is_set():
            raise StoppedError


def _start_worker() -> None:
    import torch

    torch.set_num_threads(1)  # the other cores answer sliders


_worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="findings", initializer=_start_worker)
_works: dict[str, Work] = {}
_lock = threading.Lock()


def ask(asked: Asked, page: str) -> Work:
    """The work on a wish, begun if it is a new one; the last wish of the same open page is then stopped.

    Work that a person stopped stays so until it is forgotten. Raises ValueError where too many wait.
    """
    with _lock:
        known = _works.get(page)
        if known is not None and known.asked == asked:
            return known
        if known is not None:
            known.stopped.set()
        kept = cache.results.get(asked)
        if kept is not None:
            work = _works[page] = Work(asked, 1.0, kept)
            work.done.set()
            return work
        waiting = sum(not work.done.is_set() for work in _works.values())
        if waiting >= MOST_WAITING:
            raise ValueError(f"{waiting} findings are waiting, at most {MOST_WAITING} may; try again later.")
        work = _works[page] = Work(asked)
        finished = [name for name, each in _works.items() if each.done.is_set() and name != page]
        for other in finished[:-MOST_WAITING]:
            del _works[other]
    _worker.submit(_do, work)
    return work


def forget(page: str) -> None:
    """Lets a page's next wish begin anew."""
    with _lock:
        _works.pop(page, None)


def _do(work: Work) -> None:
    asked = work.asked
    try:
        work.tell(0.0)
        memory.check()
        model = cache.model(asked.model) if asked.model else None
        work.outcome = findings()[asked.finding].measured(model, work.tell, **dict(asked.parameters))
        cache.results.put(asked, work.outcome, len(pickle.dumps(work.outcome)))
    except StoppedError:
        work.problem = "It was stopped."
    except ValueError as error:
        work.problem = str(error)
    except MemoryError:
        work.problem = "The measurement needs more memory than there is; take fewer texts or a smaller model."
    except Exception as error:  # nobody would hear of it, since nobody asks this thread for a result
        _logger.exception("%s on %r", asked.finding, asked.model)
        work.problem = (
            f"The measurement met an error of its own ({type(error).__name__}); choose another model, or "
            "other numbers. What the server prints says where."
        )
    finally:
        work.done.set()
