"""One side of a comparison: a model, what it reads, what is changed in it; or a trace that is at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from ..data.tasks import Reading
from ..engine.address import Address
from ..engine.trace import Trace
from ..interventions.edit import read_edits
from ..interventions.edited_pass import Editing, Prepared, at_modules, one_after_the_other
from ..zoo.model import Model, Reduce
from ..zoo.own_attention import KeptAttention
from ..zoo.own_model import OwnModel

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

        def widen(address: str, value: Tensor) -> Any:
            value = value.float() if value.dtype in HALVES else value
            return value if reduce is None else reduce(address, value)

        if self.editing is None or not self.edits:
            return self.model.trace(what, reduce=widen, edit=self.editing, edits=self.edits, **others)
        edits = Prepared(self.model, what, read_edits(self.edits), others).applied(what)
        # edits see what knobs have made of the scores: a key that these hide is hidden
        with at_modules(self.model.net, edits.places, edits):
            trace = self.model.trace(what, reduce=widen, edit=one_after_the_other(self.editing, edits))
        edits.check_done()
        return trace


def of_trace(trace: Trace, name: str) -> Side:
    """The heads of a trace that is at hand, under a name; what it writes has no names there."""
    patterns = {address: trace[address].float() for address in trace if address.endswith(".pattern")}
    stacks: dict[str, dict[str, Any]] = {}
    for address, pattern in patterns.items():
        n_heads = len(pattern)
        sizes = {"n_layers": 0, "n_heads": n_heads, "d_head": 0, "n_key_heads": n_heads, "scales": ()}
        stack = stacks.setdefault(Address.parse(address).family, sizes | {"whole": False})
        stack["n_layers"] += 1
    return Side(OwnModel(name, KeptAttention(name, stacks, trace.tokens, ""), patterns, patterns.__getitem__))
