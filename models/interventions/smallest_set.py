"""Finds the smallest set of heads without which a model writes something else."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ..data.tasks import Reading

MOST = 260
"""Sets that are tried: all of eight heads."""


class Head(NamedTuple):
    """One head; attention: its address, such as "encoder.1.self"."""

    attention: str
    head: int


@runtime_checkable
class Writes(Protocol):
    """A model that writes under edits."""

    def answer(self, what: Reading, *, edits: Any = (), **settings: Any) -> Reading: ...


@dataclass(frozen=True)
class Smallest:
    """What was found. heads: the set, () if none was found; answer: what is written without it.

    usual: what is written with all heads. tried: sets that were tried, all with fewer heads among them;
    whole: the largest number of heads of which all sets were tried.
    """

    heads: tuple[Head, ...]
    answer: str
    usual: str
    tried: int
    whole: int


def smallest_set(
    model: Writes,
    reading: Reading,
    heads: Sequence[Head],
    *,
    most: int = MOST,
    progress: Callable[[float], object] = lambda share: None,
    **settings: Any,
) -> Smallest:
    """Switches off (z = 0) every single head, then every pair, and so on, until the answer is another one.

    most: sets to try. progress: hears which share of them is done, and may raise to end it. settings: those
    that the reading was read with. Raises ValueError for a model that writes nothing.
    """
    usual = model.answer(reading, **settings).answer
    tried = whole = 0
    for size in range(1, len(heads) + 1):
        for chosen in combinations(heads, size):
            if tried == most:
                return Smallest((), usual, usual, tried, whole)
            progress(tried / most)
            tried += 1
            answer = model.answer(reading, edits=list(switched_off(chosen)), **settings).answer
            if answer != usual:
                return Smallest(chosen, answer, usual, tried, size - 1)
        whole = size
    return Smallest((), usual, usual, tried, whole)


def switched_off(heads: Sequence[Head]) -> Iterator[str]:
    """The edits that switch heads off, a line for each attention."""
    for attention in dict.fromkeys(each.attention for each in heads):
        of_it = ",".join(str(each.head) for each in heads if each.attention == attention)
        yield f"{attention} heads {of_it}: zero"
