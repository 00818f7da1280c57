"""Many edits of one text at once: a row of a batch each, changed by hooks where it goes through a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from torch import Tensor, nn

Change = Callable[[Tensor], Tensor]
"""What a row [position, channel] becomes."""
_ROWS: ContextVar[object] = ContextVar("rows", default=None)


class Job(NamedTuple):
    """One row: what of it is changed, where it enters the module of an address."""

    address: str
    change: Change


@contextmanager
def changing(modules: Mapping[str, nn.Module], jobs: Sequence[Job]) -> Iterator[None]:
    """Within it, one pass of this thread over a batch is changed: row i by job i.

    modules: by address, in the order of computation; a module that stands at several is called once for each.
    """
    rows: dict[str, list[tuple[int, Change]]] = {}
    for row, job in enumerate(jobs):
        rows.setdefault(job.address, []).append((row, job.change))
    of_module: dict[int, list[str]] = {}
    for address, module in modules.items():
        of_module.setdefault(id(module), []).append(address)
    mine = object()
    with ExitStack() as opened:
        for module in {id(module): module for module in modules.values()}.values():
            addresses = iter(of_module[id(module)])
            hook = _hook(mine, addresses, rows, len(jobs))
            opened.callback(module.register_forward_pre_hook(hook, with_kwargs=True).remove)
        token = _ROWS.set(mine)
        try:
            yield
        finally:
            _ROWS.reset(token)


def _hook(
    mine: object, addresses: Iterator[str], rows: dict[str, list[tuple[int, Change]]], n_rows: int
) -> Callable[..., Any]:
    def changed(module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if _ROWS.get() is not mine:  # another thread's pass through the same modules
            return None
        asked = rows.get(next(addresses))
        if asked is None:
            return None
        name = None if given else "hidden_states"
        made = (given[0] if name is None else named[name]).clone()
        each = made.view(n_rows, -1, made.shape[-1])
        for row, change in asked:
            each[row] = change(each[row])
        return ((made, *given[1:]), named) if name is None else (given, named | {name: made})

    return changed
