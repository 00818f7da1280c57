"""Findings being measured: by a thread of their own, one after the other, told and stopped from the page."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import models as _before_torch  # noqa: F401  (so that torch's idle threads sleep)
from models.findings import Outcome, findings
from pages.shared import cache
from pages.shared.wishes import Wish, Wishes


@dataclass(frozen=True)
class Asked:
    """What a page wants measured. model: "" for a finding about runs. stamp: of the model's weights."""

    finding: str
    model: str
    stamp: int
    parameters: tuple[tuple[str, Any], ...]


@dataclass(kw_only=True)
class Work(Wish):
    """One measurement on its way."""

    doing: str = "measures"
    outcome: Outcome | None = None


def ask(asked: Asked, page: str) -> Work:
    """The work on a page's wish, as `Wishes.ask` has it; one that was measured already is done at once."""
    work, kept = Work(asked=asked), cache.results.get(asked)
    if kept is not None:
        work.share, work.outcome = 1.0, kept
        work.done.set()
    return wishes.ask(work, page)


def _do(work: Work) -> None:
    asked: Asked = work.asked
    model = cache.model(asked.model) if asked.model else None
    outcome = findings()[asked.finding].measured(model, work.tell, **dict(asked.parameters))
    cache.results.put(asked, outcome, len(pickle.dumps(outcome)))
    work.tell(1.0)
    work.outcome = outcome


wishes = Wishes("findings", _do, "fewer texts")
forget = wishes.forget
