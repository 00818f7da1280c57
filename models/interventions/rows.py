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
    """One row: what of it is changed, where it enters the module of an address, or leaves it."""

    address: str
    change: Change


@contextmanager
def changing(
    modules: Mapping[str, nn.Module], jobs: Sequence[Job], *, leaving: bool = False
) -> Iterator[None]:
    """Within it, one pass of this thread over a batch is changed: row i by job i.

    modules: by address, in the order of computation; a module that stands at several is called once for each.
    leaving: where they leave the module, else where they enter it.
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
            hooks = _Hooks(mine, iter(of_module[id(module)]), rows, len(jobs))
            if leaving:
                handle = module.register_forward_hook(hooks.leaving)
            else:
                handle = module.register_forward_pre_hook(hooks.entering, with_kwargs=True)
            opened.callback(handle.remove)
        token = _ROWS.set(mine)
        try:
            yield
        finally:
            _ROWS.reset(token)


class _Hooks(NamedTuple):
    """The hooks of one module; they leave alone what other threads send through it."""

    mine: object
    addresses: Iterator[str]
    rows: dict[str, list[tuple[int, Change]]]
    n_rows: int

    def entering(self, module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        asked = self._asked()
        if not asked:
            return None
        if given:
            return (self._changed(given[0], asked), *given[1:]), named
        return given, named | {"hidden_states": self._changed(named["hidden_states"], asked)}

    def leaving(self, module: nn.Module, given: Any, made: Any) -> Any:
        asked = self._asked()
        if not asked:
            return None
        if isinstance(made, Tensor):
            return self._changed(made, asked)
        return (self._changed(made[0], asked), *made[1:])

    def _asked(self) -> list[tuple[int, Change]]:
        return self.rows.get(next(self.addresses), []) if _ROWS.get() is self.mine else []

    def _changed(self, whole: Tensor, asked: list[tuple[int, Change]]) -> Tensor:
        made = whole.clone()
        each = made.view(self.n_rows, -1, made.shape[-1])
        for row, change in asked:
            each[row] = change(each[row])
        return made
