"""Every intermediate of one forward pass, by address."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, KeysView
from difflib import get_close_matches
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Entry(NamedTuple):
    """One row of the glossary. In the address, {stack} is encoder or decoder and {layer} counts from 0."""

    address: str
    shape: str
    meaning: str


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
GLOSSARY: tuple[Entry, ...] = tuple(Entry(*row) for row in _TABLE["entries"])


class Trace:
    """One prompt's intermediates, without a batch axis and detached from the autograd graph.

    `reduce(address, tensor)` is called as each is computed; what it returns is kept, None keeps nothing, so
    that a large model's matrices need exist only one at a time. Left out, the tensors themselves are kept.
    `tokens` is for the labels of whoever knows them: a list of str for "encoder", for "decoder". `notes` are
    sentences on what it lacks.

    `edit(address, tensor)` changes the pass itself: it is called where the value is computed, with the value
    as the trace holds it, and what follows is computed from the tensor that it returns, which `reduce` and
    the trace then see as well. It returns the very tensor that it was given to leave a value alone, and
    otherwise a new one of the same shape, type and device. Gradients flow through both. Zero head 2:

        Trace(edit=lambda address, x: x * keep if address == "encoder.1.self.z" else x)  # keep: [head, 1, 1]

    keeps_graph: `graph` has the tensors [1, ...] that gradients flow through, until `differentiate` has
    filled `grads`: by address, the gradient of a number with respect to what is there.
    """

    def __init__(
        self,
        reduce: Callable[[str, Tensor], Any | None] | None = None,
        *,
        edit: Callable[[str, Tensor], Tensor] | None = None,
        keeps_graph: bool = False,
    ) -> None:
        self.tokens: dict[str, list[str]] = {}
        self.notes: list[str] = []
        self._reduce = reduce
        self._edit = edit
        self._values: dict[str, Any] = {}
        self.grads: dict[str, Tensor] = {}
        self.graph: dict[str, Tensor] | None = {} if keeps_graph else None

    @property
    def edits(self) -> bool:
        """Whether it changes the pass."""
        return self._edit is not None

    @staticmethod
    def glossary() -> tuple[Entry, ...]:
        """All (address, shape in words, meaning): what can be watched, and edited."""
        return GLOSSARY

    def record(self, address: str, tensor: Tensor) -> Tensor:
        """Keeps a tensor [1, ...] under its address and returns it, edited where the trace has an `edit`.

        Raises ValueError when the address is taken, and when the edit gives what cannot take the place.
        """
        if address in self._values:
            raise ValueError(f"{address} is recorded already; give each prompt its own Trace()")
        if self._edit is not None:
            tensor = _edited(self._edit, address, tensor)
        value: Any = tensor.detach()[0]
        if self._reduce is not None:
            value = self._reduce(address, value)
        if value is not None:
            self._values[address] = value
        if self.graph is not None:
            tensor = tensor if tensor.requires_grad else tensor.detach().requires_grad_()
            self.graph[address] = tensor
            # Not the given one, so that whoever recorded a copy goes on with it.
            return tensor.view_as(tensor)
        return tensor

    def in_graph(self) -> "Trace":
        """The same addresses with values that gradients flow through, until `differentiate` is called."""
        trace = Trace()
        trace.tokens = self.tokens
        trace._values = {address: tensor[0] for address, tensor in (self.graph or {}).items()}
        return trace

    def differentiate(self, number: Tensor) -> None:
        """Fills `grads` with the gradients of a number that was made of `in_graph()`, and lets the graph go.

        An address on which it does not depend has none. Raises ValueError where it depends on none.
        """
        graph, self.graph = self.graph or {}, None
        if not number.requires_grad:
            raise ValueError(
                "the metric depends on nothing in the trace, so it has no gradient; compute it of its tensors"
            )
        grads = torch.autograd.grad(number, list(graph.values()), allow_unused=True)
        for address, grad in zip(graph, grads, strict=True):
            if grad is not None:
                self.grads[address] = grad[0]

    def __getitem__(self, address: str) -> Any:
        """What was kept there. Raises KeyError naming near addresses."""
        if address in self._values:
            return self._values[address]
        near = get_close_matches(address, self._values, n=3, cutoff=0.5)
        remedy = f"near it are {', '.join(near)}" if near else "see trace.keys()"
        raise KeyError(f"nothing is recorded at {address!r}; {remedy}")

    def __repr__(self) -> str:
        """What it holds: addresses, those of layers that hold the like together, shapes and axes."""
        alike: dict[tuple[str, str], list[str]] = {}
        for address, value in self._values.items():
            layer = _LAYER.search(address)
            key = _LAYER.sub(".{}.", address), _shape(address, value)
            alike.setdefault(key, []).append(layer[1] if layer else "")
        lines = [(address.format(_numbers(layers)), shape) for (address, shape), layers in alike.items()]
        width = max((len(address) for address, _ in lines), default=0)
        return "\n".join(
            [f"Trace{self._read()}", *(f"  {a:<{width}}  {shape}".rstrip() for a, shape in lines)]
        )

    def _repr_html_(self) -> str:
        """The same as a tree that a notebook unfolds."""
        return f"<div>Trace{escape(self._read())}</div>{self._tree([a.split('.') for a in self._values], 0)}"

    def _tree(self, addresses: Iterable[list[str]], depth: int) -> str:
        parts = []
        for name, below in groupby(addresses, lambda parts: parts[depth]):
            branch = list(below)
            if len(branch[0]) == depth + 1:
                address = ".".join(branch[0])
                parts.append(
                    f"<div><code>{escape(name)}</code> {escape(_shape(address, self[address]))}</div>"
                )
            else:
                inside = self._tree(branch, depth + 1)
                parts.append(f"<details><summary><code>{escape(name)}</code></summary>{inside}</details>")
        return f'<div style="margin-left: 1.2em">{"".join(parts)}</div>'

    def _read(self) -> str:
        lengths = [f"{len(tokens)} tokens in the {side}" for side, tokens in self.tokens.items()]
        grads = ", with gradients" if self.grads else ""
        return (f" of {', '.join(lengths)}" if lengths else "") + grads

    def __contains__(self, address: object) -> bool:
        return address in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def keys(self) -> KeysView[str]:
        """The addresses, in the order of computation."""
        return self._values.keys()


_LAYER = re.compile(r"\.(\d+)\.")


@cache
def _axes() -> dict[str, str]:
    """The shape in words of each address of the glossary, as it is of the encoder's first layer."""
    return {entry.address.format(stack="encoder", layer=0): entry.shape for entry in GLOSSARY}


def _shape(address: str, value: Any) -> str:
    """The shape in numbers, and in words where the glossary has them."""
    if not isinstance(value, Tensor):
        return type(value).__name__
    words = _axes().get(_LAYER.sub(".0.", address.replace("decoder.", "encoder.", 1)), "")
    return f"{list(value.shape)} {words}".rstrip()


def _numbers(layers: list[str]) -> str:
    """The numbers of layers, "0-5" where none between is missing; "" of what is in no layer."""
    numbers = [int(layer) for layer in layers if layer]
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(map(str, numbers))


class Scope(NamedTuple):
    """A trace seen from inside one part of the model, whose addresses begin with `prefix`."""

    trace: Trace
    prefix: str


def within(scope: Trace | Scope | None, name: str) -> Scope | None:
    """The scope one part further down; nothing when nothing is traced."""
    if scope is None:
        return None
    return Scope(scope, name) if isinstance(scope, Trace) else Scope(scope.trace, f"{scope.prefix}.{name}")


def record(scope: Scope | None, name: str, tensor: Tensor) -> Tensor:
    """Records a tensor [1, ...] under the scope's prefix, when something is traced.

    Returns what the caller goes on with: the tensor itself, unless the trace edits it.
    """
    return tensor if scope is None else scope.trace.record(f"{scope.prefix}.{name}", tensor)


def check_one_prompt(trace: Trace | None, batch: int) -> None:
    """Raises ValueError when more than one prompt is to be traced."""
    if trace is not None and batch != 1:
        raise ValueError(f"batch={batch}, but a trace holds one prompt; trace tokens[i : i + 1], row by row")


def _edited(edit: Callable[[str, Tensor], Tensor], address: str, tensor: Tensor) -> Tensor:
    """What `edit` makes of a tensor [1, ...]: the same object where it leaves it alone."""
    before = tensor[0]
    version = _version(before)
    after = edit(address, before)
    if _version(before) != version:
        # Values share memory (`norm` with the last `resid_post`): others would change that stand already.
        raise ValueError(
            f"edit changed {address} in place, which may change what came before it; "
            "return a new tensor, e.g. change tensor.clone()"
        )
    if after is before:
        return tensor
    if not isinstance(after, Tensor):
        raise ValueError(f"edit gave {type(after).__name__} for {address}; return a tensor, or the given one")
    if _described(after) != _described(before):
        raise ValueError(
            f"edit gave {_described(after)} for {address}, which is {_described(before)}; "
            "return a tensor of the same shape, type and device"
        )
    return after[None]


def _version(tensor: Tensor) -> int:
    """How often a tensor was changed in place; PyTorch does not count that in its inference mode."""
    return 0 if tensor.is_inference() else tensor._version


def _described(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)} on {tensor.device}"
