"""What edits ask of a model: `models.zoo.model.Model` says what each of these means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from models.data.tasks import Reading, Writing
from models.engine.trace import Trace

Editing = Callable[[str, Tensor], Tensor]


@runtime_checkable
class Heads(Protocol):
    """How many heads an attention has."""

    @property
    def n_heads(self) -> int: ...
    @property
    def n_key_heads(self) -> int: ...


@runtime_checkable
class Subject(Protocol):
    """A model that is edited."""

    name: str

    def read(self, text: str, **settings: Any) -> Reading: ...
    def trace(self, what: str | Reading, *, reduce: Any = None, edit: Editing | None = None) -> Trace: ...
    def attention(self, stack: str) -> Heads: ...
    def addresses(self) -> Collection[str]: ...
    def writing(self, reading: Reading) -> Writing: ...
    def following(self, reading: Reading, edit: Editing | None) -> int: ...
    def references(self) -> Sequence[Reading]: ...
