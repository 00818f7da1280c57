"""A model of transformers that is traced: whatever it reads, its pass is heard and recorded alike."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from functools import cached_property
from typing import Any, ClassVar

from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from models.data.tasks import Reading
from models.engine.remaking import format_of, in_format_of, sharing_weights
from models.engine.size import CELL
from models.engine.trace import Trace
from models.zoo.hub.checking import check_pattern, tolerance_of
from models.zoo.hub.folder import Folder
from models.zoo.hub.layout import Layer
from models.zoo.hub.loading import load, pattern_fields
from models.zoo.hub.recorder import Recorder, heard_of
from models.zoo.model import Attention, Model, call
from models.zoo.network import Change


class TracedModel(Model):
    """A model of transformers, loaded from a folder of this machine. A subclass says how it reads.

    note: what of it cannot be shown, in sentences; "" if nothing is missing. given: the names by which the
    network takes what was read; usual: what else each pass is given.
    """

    given: ClassVar[tuple[str, ...]]
    usual: ClassVar[dict[str, Any]] = {}
    pooled: str | None = None

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.name = folder.name
        self.net: Any
        self.net, self.kind, self.layout, self.attentions, self.note = load(folder)
        self.n_bytes = folder.n_bytes

    def attention(self, stack: str) -> Attention:
        return self.attentions[stack]

    def operations(self, lengths: Sequence[int]) -> int:
        """Two for every weight and token, each time that a layer is called, and those of the attention's
        cells.
        """
        weights = 2 * self._n_weights_used * max(lengths)
        cells = 0
        for stack, attention in self.attentions.items():
            query = lengths[-1] if stack.startswith("decoder") else lengths[0]
            key = lengths[0] if stack.endswith("cross") else query
            # Of patterns alone the width of a head is not known: then it is an equal part of the stream.
            d_head = attention.d_head or self.folder.sizes.get("d_model", 0) // attention.n_heads
            each = 4 * d_head + CELL
            cells += attention.n_layers * attention.n_heads * query * key * each
        return weights + cells

    @cached_property
    def _n_weights_used(self) -> int:
        """The weights of the model, those of a layer as often as it is called."""
        called = [layer.module for layer in self.layout.layers] if self.layout else []
        again = [module for at, module in enumerate(called) if module in called[:at]]
        return sum(p.numel() for module in (self.net, *again) for p in module.parameters())

    def projection(self, stack: str, layer: int) -> Tensor | None:
        """W_O of an attention, the rows of each head; None where its output projection was not found."""
        module = self._projection(stack, layer)
        if module is None:
            return None
        own = self.attention(stack)
        weight = module.weight if isinstance(module, Conv1D) else module.weight.T  # [channel of z, d_model]
        rows: Tensor = weight.detach().float().cpu().reshape(own.n_heads, -1, weight.shape[1])
        return rows

    def projection_bias(self, stack: str, layer: int) -> Tensor | None:
        bias: Tensor | None = getattr(self._projection(stack, layer), "bias", None)
        return None if bias is None else bias.detach().float().cpu()

    def _projection(self, stack: str, layer: int) -> Any:
        """The module of an attention's output projection; None where it was not found."""
        side, kind = stack.split(".")
        layers = [] if self.layout is None else self.layout.of(side)
        return next((each.out.get(kind) for each in layers if each.number == layer), None)

    def projections(self) -> dict[str, nn.Module]:
        found = {
            f"{stack}.{at}.{kind}": layer.out.get(kind)
            for stack, at, layer in self._numbered()
            for kind in layer.calls
        }
        if not found or None in found.values():
            return dict(super().projections())
        return {address: module for address, module in found.items() if module is not None}

    def layers(self) -> dict[str, nn.Module]:
        found = {f"{stack}.{at}": layer.module for stack, at, layer in self._numbered()}
        return found or dict(super().layers())

    def _numbered(self) -> list[tuple[str, int, Layer]]:
        layout = self.layout
        if layout is None:
            return []
        return [(stack, layer.number, layer) for stack in layout.stacks for layer in layout.of(stack)]

    @property
    def number_format(self) -> str:
        return str(format_of(self.net)).removeprefix("torch.")

    def remade(self, change: Change) -> TracedModel:
        made = copy(self)
        made.net, made.layout = sharing_weights(self.net, (self.net, self.layout))
        for known in ("_addresses", "_n_weights_used"):  # they speak of the modules of the other
            made.__dict__.pop(known, None)
        change(made.net)
        return made

    def logits(self, reading: Reading, n_rows: int, at: int | None) -> Tensor:
        inputs = (read.expand(n_rows, *read.shape[1:]) for read in reading.inputs)
        made = self.net(**dict(zip(self.given, inputs, strict=False)), **self.usual)
        logits = getattr(made, "logits", None)
        if logits is None:
            return super().logits(reading, n_rows, at)
        rows = (logits if logits.ndim == 3 else logits[:, None]).float().cpu()
        return rows if at is None else rows[:, [at]]

    def compute(self, reading: Reading, trace: Trace) -> None:
        inputs = in_format_of(self.net, reading.inputs)
        given = dict(zip(self.given, inputs, strict=False)) | self.usual
        try:
            if self.layout is None:
                self._patterns(reading, trace, given)
                return
            lengths = {side: len(tokens) for side, tokens in reading.tokens.items()}
            with Recorder(trace, self.layout, lengths).hearing():
                made = self.net(**given)
            self._conclude(trace, made)
        except (
            LookupError,
            ArithmeticError,
            AssertionError,
            RuntimeError,
            TypeError,
            AttributeError,
        ) as error:
            raise ValueError(
                f"{self.folder.title} could not read this ({type(error).__name__}: {str(error)[:200]}); "
                "give another text or picture, or open another model"
            ) from error

    def addresses(self) -> Collection[str]:
        """What is heard of a pass and may be edited."""
        return () if self.layout is None else heard_of(self.layout)

    def _patterns(self, reading: Reading, trace: Trace, given: dict[str, Any]) -> None:
        """What an architecture gives of itself whose attention cannot be recorded: its patterns."""
        if trace.edits:
            raise ValueError(f"{self.note} So nothing can be edited; open another model.")
        made = self.net(**given, output_attentions=True)
        for stack, field in pattern_fields(self.kind).items():
            side, kind = stack.split(".")
            n_queries = len(reading.tokens[side])
            n_keys = len(reading.tokens["encoder"]) if kind == "cross" else n_queries
            shape = (self.attentions[stack].n_heads, n_queries, n_keys)
            for layer, pattern in enumerate(getattr(made, field)):
                weights = pattern.float().cpu()
                check_pattern(weights[0], shape, tolerance_of(pattern.dtype))
                trace.record(f"{side}.{layer}.{kind}.pattern", weights)
        self._conclude(trace, made)

    def _conclude(self, trace: Trace, made: Any) -> None:
        logits = getattr(made, "logits", None)
        if logits is not None:
            rows = logits if logits.ndim == 3 else logits[:, None]
            trace.record("logits", rows.float().cpu())

    def code(self, text: str, **settings: Any) -> str:
        load_it = f"from models import load_model\nlm = load_model({self.name!r})"
        return f"{load_it}\ntrace = {call('lm.trace', text, **settings)}"
