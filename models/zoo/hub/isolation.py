"""Isolates work on a stranger's tokenizer and chat template, so that it harms nobody.

A server hands in a runner, which does such work in a process with a deadline and a limit on memory. Without
one, as in a notebook, it is done on the spot.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class Runner(Protocol):
    """Calls a function at a module's top level with its arguments elsewhere, and returns what it returns.

    n_bytes: of the weights that it opens. Such work is done once for the same arguments, and refused again in
    the same words. Raises ValueError, with a sentence, where the work refuses, takes too long or too much
    memory, or ends its process.
    """

    def __call__(self, function: Callable[..., Result], *args: Any, n_bytes: int = 0) -> Result | None: ...


_runners: list[Runner] = []


def set_runner(runner: Runner | None) -> None:
    """From now on such work is done by this one; None: on the spot."""
    _runners[:] = [] if runner is None else [runner]


def is_elsewhere() -> bool:
    """Whether such work is done in another process."""
    return bool(_runners)


def run(function: Callable[..., Result], *args: Any, n_bytes: int = 0) -> Any:
    """What a function at a module's top level returns, called where such work is done."""
    return _runners[0](function, *args, n_bytes=n_bytes) if _runners else function(*args)


def first_line(error: BaseException) -> str:
    """What an error of a library says, short and without its full stop; its type where it says nothing."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(". :")


def check_ordinary(error: BaseException) -> None:
    """Raises an error again that ends the program on purpose. A panic of a library written in Rust is none,
    although Python takes it for one.
    """
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error
