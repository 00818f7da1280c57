"""Comparisons being computed: by a thread of their own, one after another, told and stopped by the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import models as _before_torch  # noqa: F401  (so that torch's idle threads sleep)
from pages.shared import cache
from pages.shared.wishes import Wish, Wishes

if TYPE_CHECKING:
    from pages.beside.seen import Seen


@dataclass(frozen=True)
class Asked:
    """What a page wants compared. settings: with which the first side is read. differs: what the second side
    differs in, and other: how. stamps: of the weights of both.
    """

    model: str
    text: str
    settings: tuple[tuple[str, Any], ...]
    differs: str
    other: str
    stamps: tuple[int, int]
    matched: bool = False


@dataclass(kw_only=True)
class Work(Wish):
    """One comparison on its way."""

    doing: str = "compares"
    seen: Seen | None = None


def ask(asked: Asked, page: str) -> Work:
    """The work on a page's wish, as `Wishes.ask` has it; what was compared already is there at once."""
    work, kept = Work(asked=asked), cache.results.get(asked)
    if kept is not None:
        work.share, work.seen = 1.0, kept
        work.done.set()
    return wishes.ask(work, page)


def _do(work: Work) -> None:
    from pages.beside.computing import seen_of

    seen = seen_of(work.asked, work.tell)
    cache.results.put(work.asked, seen, seen.n_bytes)
    work.tell(1.0)
    work.seen = seen


wishes = Wishes("comparisons", _do, "a shorter text")
forget = wishes.forget
