"""Chosen positions of a text as a link writes them: 0-3.7 is 0, 1, 2, 3 and 7."""

import re
from functools import partial

from pages.shared.link import Rule, checked, text

_WRITTEN = re.compile(r"\d{1,6}(-\d{1,6})?(\.\d{1,6}(-\d{1,6})?)*")


def rule(most: int) -> Rule:
    """Positions up to `most`; an empty text leaves them open."""
    said = f"positions from 0 to {most:,} like 0-3.7, each range from its first to its last"
    return text(said, partial(_read, most))


def _read(most: int, raw: str) -> str:
    return checked(raw, lambda given: not given or (bool(_WRITTEN.fullmatch(given)) and _fits(given, most)))


def _fits(written: str, most: int) -> bool:
    return all(first <= last <= most for first, last in _ranges(written))


def _ranges(written: str) -> list[tuple[int, int]]:
    ends = (part.split("-") for part in written.split(".") if part)
    return [(int(each[0]), int(each[-1])) for each in ends]


def largest(written: str) -> int:
    """The largest position that is written; 0 where none is."""
    return max((last for _, last in _ranges(written)), default=0)


def within(written: str, count: int) -> list[int]:
    """The positions below `count`, each once, in order."""
    chosen = bytearray(count)  # ranges may lie over each other, as many as a message holds
    for first, last in _ranges(written):
        stop = min(last + 1, count)
        chosen[first:stop] = b"\1" * max(0, stop - first)
    return [at for at in range(count) if chosen[at]]
