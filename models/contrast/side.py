"""One side of a comparison: a model, what it reads, and what is changed in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from models.data.tasks import Reading
from models.engine.trace import Trace
from models.interventions.applied import Prepared
from models.interventions.edit import read_edits
from models.interventions.subject import Editing
from models.zoo.model import Model, Reduce

HALVES = (torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class Side:
    """A model that reads a text, with edits of its pass and, perhaps, knobs that are turned.

    settings: keywords of reading. edits: lines, as `models.interventions` reads them. What knobs set:
    unchanged, the model as it was, which reads the text, so that both sides have the same tokens; editing,
    what is done in every pass; order, of each word of the text where it stood before; knobs, each value by
    the knob's name.
    """

    model: Model
    text: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    edits: tuple[str, ...] = ()
    unchanged: Model | None = None
    editing: Editing | None = None
    order: tuple[int, ...] | None = None
    knobs: Mapping[str, str] = field(default_factory=dict)

    @property
    def reader(self) -> Model:
        """The model that reads the text, and writes the answer after it: without what a knob changed."""
        return self.unchanged or self.model

    def read(self) -> Reading:
        """What is read. Raises ValueError, with a sentence, for what cannot be read."""
        return self.reader.read(self.text, **self.settings)

    def reads_like(self, other: Side) -> bool:
        """Whether both read the same with the same model, so that one reading serves both."""
        mine, yours = (self.text, dict(self.settings)), (other.text, dict(other.settings))
        return self.reader is other.reader and mine == yours

    def trace(self, reading: Reading | None = None, *, reduce: Reduce | None = None) -> Trace:
        """All that is computed on its reading; half precision is recorded in float32.

        Raises ValueError as `read` does, and for edits that do not fit.
        """
        what = self.read() if reading is None else reading
        others = {name: value for name, value in self.settings.items() if name != "target"}
        reduce, editing = _widened(reduce), self.editing
        if editing is None or not self.edits:
            return self.model.trace(what, reduce=reduce, edit=editing, edits=self.edits, **others)
        edits = Prepared(self.model, what, read_edits(self.edits), others).applied(what)
        # edits see what knobs have made of the scores: a key that these hide is hidden
        trace = self.model.trace(what, reduce=reduce, edit=lambda at, x: edits(at, editing(at, x)))
        edits.check_done()
        return trace


def _widened(reduce: Reduce | None) -> Reduce:
    def kept(address: str, value: Tensor) -> Any:
        value = value.float() if value.dtype in HALVES else value
        return value if reduce is None else reduce(address, value)

    return kept
