"""Prepares edits for one pass, checked against the model and what it reads, and applies them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from ..data.tasks.batch import Reading, Writing
from ..engine import capture as engine
from ..engine.capture import edited_output
from ..engine.trace import Trace
from .edit import Context, Edit, Place, read_edits

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
    net: Any

    def reading_of(self, what: Any, settings: Mapping[str, Any]) -> Reading: ...
    def trace(
        self, what: str | Reading, *, reduce: Any = None, edit: Editing | None = None, grad: Any = None
    ) -> Trace: ...
    def attention(self, stack: str) -> Heads: ...
    def addresses(self) -> Collection[str]: ...
    def writing(self, reading: Reading) -> Writing: ...
    def following(self, reading: Reading, edit: Editing | None) -> Tensor: ...
    def references(self) -> Sequence[Reading]: ...


Values = dict[str, Tensor]
_PASS: ContextVar[object] = ContextVar("pass", default=None)


@contextmanager
def at_modules(net: Any, places: Iterable[Place], edit: Editing | None) -> Iterator[None]:
    """Within it, what the modules of these places give in a pass of this thread goes through the edit."""
    mine, addresses = object(), {place.module: place.address for place in places if place.module}
    if edit is None or not addresses:
        yield
        return
    with ExitStack() as opened:
        for path, address in addresses.items():

            def left(module: Any, given: Any, output: Any, address: str = address) -> Any:
                return edited_output(edit, address, output) if _PASS.get() is mine else None

            opened.callback(net.get_submodule(path).register_forward_hook(left).remove)
        token = _PASS.set(mine)
        try:
            yield
        finally:
            _PASS.reset(token)


class Applied:
    """The `edit` of a trace that does what some edits say, in their order, in one pass.

    others: for each edit, the values that it takes from other texts, by address. Where the pass has more
    positions than these, as while a model writes, the later ones stay as they are.
    """

    def __init__(self, edits: Sequence[Edit], others: Sequence[Sequence[Values]]) -> None:
        self._others = dict(zip(map(id, edits), others, strict=True))
        self._by_address: dict[str, list[Edit]] = {}
        for edit in edits:
            self._by_address.setdefault(edit.place.needed[-1], []).append(edit)
        self._watched = {a.replace(".pattern", ".scores"): a for a in self._by_address if ".pattern" in a}
        self._entered = {e.place.needed[0] for e in edits if e.place.kind == "layer"}
        self._kept: Values = {}
        self.places = [edit.place for edit in edits]
        self._missing = set(self._by_address)

    def __call__(self, address: str, value: Tensor) -> Tensor:
        if address in self._watched:
            self._kept[address] = value != -torch.inf
        for edit in self._by_address.get(address, ()):
            value = self._edited(edit, address, value)
        if address in self._entered:
            self._kept[address] = value
        self._missing.discard(address)
        return value

    def check_done(self) -> None:
        """Raises ValueError where the pass never came to an edit's place."""
        for address in sorted(self._missing):
            place = self._by_address[address][0].place
            raise ValueError(f"{place}: the model did not compute this; choose another")

    def _edited(self, edit: Edit, address: str, value: Tensor) -> Tensor:
        place = edit.place
        if any(key >= value.shape[-1] for key in edit.change.keys):
            return value  # the model writes, and this key is not there yet: no row can look at it
        heads: slice | list[int] = slice(None)
        if place.heads is not None:  # the others cost nothing
            heads = [head for head in place.heads if head < len(value)]
        was = value[heads]
        open_ = self._kept.get(address.replace(".pattern", ".scores"))
        context = Context(
            place=place.short,
            others=[values[address][heads] for values in self._others[id(edit)]],
            open=open_ if open_ is None or len(open_) == 1 else open_[heads],
            entering=self._kept.get(place.needed[0]),
            rows=place.at,
        )
        new = edit.change.apply(was, context)
        if place.at is not None:
            mine = torch.zeros(new.shape[-2], 1, dtype=torch.bool, device=value.device)
            mine[[position for position in place.at if position < len(mine)]] = True
            new = torch.where(mine, new, was)
        if torch.equal(new, was):
            return value
        if place.heads is None:
            return new
        changed = value.clone()
        changed[heads] = new
        return changed


def one_after_the_other(first: Editing | None, then: Editing | None) -> Editing | None:
    """Both edits of one pass."""
    if first is None or then is None:
        return first or then
    return lambda address, value: then(address, first(address, value))


class Prepared:
    """Edits with the other texts that they take values from, read once, for passes over one text.

    Raises ValueError where an edit does not fit the model or the reading, before anything is computed.
    """

    def __init__(
        self, model: Subject, reading: Reading, edits: Iterable[Edit], settings: dict[str, Any]
    ) -> None:
        self._model, self._reading, self._settings = model, reading, settings
        self._edits = list(edits)
        self._read: dict[tuple[str, bool], Reading] = {}
        self._references: list[Reading] | None = None
        for edit in self._edits:
            check(model, reading, edit)
        self._texts = [self._others_of(edit) for edit in self._edits]
        self._wanted: dict[int, set[str]] = {}  # of each other text, by its id: all that any edit takes
        for edit, texts in zip(self._edits, self._texts, strict=True):
            for other in texts:
                self._wanted.setdefault(id(other), set()).update(edit.place.needed)
        self._known: dict[int, Values] = {}

    def applied(self, reading: Reading) -> Applied:
        """The edits for one pass over this: the same text, of which more may be written by now."""
        of_this: dict[int, Values] = {}  # values from before an answer that grows are of one pass
        values = [
            [self._values(edit, other, reading, of_this) for other in texts]
            for edit, texts in zip(self._edits, self._texts, strict=True)
        ]
        return Applied(self._edits, values)

    def _others_of(self, edit: Edit) -> list[Reading]:
        """The other texts of an edit, in their order, each read once. Raises ValueError for unfit ones."""
        aligned = edit.change.aligned
        for text in edit.change.texts:
            if (text, aligned) not in self._read:
                other = self._model.reading_of(text, self._settings)
                self._read[text, aligned] = before_the_same_answer(other, self._reading) if aligned else other
        others = [self._read[text, aligned] for text in edit.change.texts]
        for other in others if aligned else ():
            _check_aligned(edit, self._reading, other)
        if not edit.change.of_reference:
            return others
        if self._references is None:
            self._references = list(self._model.references())
        if not self._references:
            raise ValueError(
                f"{edit.place}: {self._model.name!r} brings no reference texts; write some, such as mean of "
                '"a text" "another"'
            )
        return others + self._references

    def _values(self, edit: Edit, other: Reading, reading: Reading, of_this: dict[int, Values]) -> Values:
        """What edits take from a text, which is traced once for all of them."""
        may_grow = edit.place.side == "decoder" or edit.place.module
        grows = edit.change.aligned and may_grow and len(reading.inputs) > 1
        values = of_this if grows else self._known
        if id(other) not in values:
            read = before_the_same_answer(other, reading) if grows else other
            addresses, found = self._wanted[id(other)], Values()

            def keep(address: str, value: Tensor) -> Tensor:
                if address in found:
                    raise ValueError(
                        f"{address} runs more than once in a pass; "
                        "edit an address of the trace, such as decoder.1.ff"
                    )
                found[address] = value
                return value

            with at_modules(self._model.net, [edit.place for edit in self._edits], keep):
                trace = self._model.trace(read, reduce=lambda a, x: x if a in addresses else None)
            values[id(other)] = found | {address: trace[address] for address in addresses if address in trace}
        return values[id(other)]


def check(model: Subject, reading: Reading, edit: Edit) -> None:
    """Raises ValueError where an edit names what this model, or what it reads, has not."""
    place = edit.place
    check_place(model, reading, place)
    for key in edit.change.keys:
        n_keys = len(reading.tokens[place.keys_side])
        if key >= n_keys:
            raise ValueError(
                f"{place}: key {key} is beyond the {n_keys} tokens of the {place.keys_side}; "
                f"give 0 to {n_keys - 1}"
            )


def check_place(model: Subject, reading: Reading, place: Place) -> None:
    """Raises ValueError where this model, or what it reads, has no such place."""
    modules = [path for path, _ in model.net.named_modules() if path] if place.module else []
    place.check_address(model.addresses(), model.name, modules)
    if place.kind in ("heads", "pattern"):
        about = model.attention(place.where.family)
        place.check_heads(about.n_heads, about.n_key_heads)
    sides = reading.tokens if place.module else (place.positions_of,)
    place.check_positions(max(len(reading.tokens[side]) for side in sides))


def before_the_same_answer(other: Reading, reading: Reading) -> Reading:
    """Another text before the answer that is read here, so that the decoder's positions are the same."""
    if len(reading.inputs) < 2:
        return other
    tokens = {**other.tokens, "decoder": reading.tokens["decoder"]}
    return replace(other, inputs=(other.inputs[0], *reading.inputs[1:]), tokens=tokens)


def _check_aligned(edit: Edit, reading: Reading, other: Reading) -> None:
    """Raises ValueError where the positions of another text cannot be put one to one."""
    place, here, there = edit.place, reading.tokens, other.tokens
    own = set(here) if place.module else {place.positions_of}
    sides = own if place.at is None else set()
    n_there = max(len(there[side]) for side in own)
    for position in place.at or ():
        if position >= n_there:
            raise ValueError(
                f"{place}: the other text has only {n_there} tokens, none at position "
                f"{position}; give a longer one, or another position"
            )
    if place.kind == "pattern":
        sides.add(place.keys_side)
    for side in sorted(sides):
        if len(here[side]) != len(there[side]):
            raise ValueError(
                f"{place}: the other text has {len(there[side])} tokens, this one {len(here[side])}; give "
                "texts of equal length, or name positions with at"
            )


Progress = Callable[[float], object]


def write_under_edits(
    model: Subject,
    reading: Reading,
    edits: Sequence[Edit],
    settings: dict[str, Any],
    progress: Progress = lambda share: None,
    *,
    writing: Writing | None = None,
    choose: Callable[[Tensor], Tensor] = torch.argmax,
) -> Reading:
    """The reading with what the model writes after it. progress: hears which share of the most is written.
    writing: in place of the model's own. choose: the next token by its scores.

    Raises ValueError where an edit does not fit the model or the reading, and for one that writes nothing.
    """
    writing = writing or model.writing(reading)
    prepared = Prepared(model, reading, edits, settings) if edits else None
    *before, last = reading.inputs
    ids: list[int] = []
    while len(ids) < writing.most:
        progress(len(ids) / writing.most)
        written = torch.tensor([[*writing.begun, *ids]], device=last.device)
        now = replace(reading, inputs=(*before, written))
        applied = None if prepared is None else prepared.applied(now)
        with at_modules(model.net, applied.places if applied else (), applied):
            ids.append(int(choose(model.following(now, applied))))
        if ids[-1] in writing.ends:
            break
    return writing.finished(ids)


# Attention of any torch module, while edits change what it computes.


def capture(
    module: nn.Module, *inputs: Any, edits: Any = (), edit: Editing | None = None, **keywords: Any
) -> tuple[Any, Trace]:
    """`module(*inputs, **keywords)`, and a trace of every attention in it, as `models.engine.capture` has it:
    what nn.MultiheadAttention, nn.Transformer and F.scaled_dot_product_attention compute, at addresses such
    as `encoder.0.self.pattern`, or `blocks.3.attn.pattern` after the path of the part that computes it.

    edits: what is changed in the pass, as in `trace`: lines such as 'module "blocks.3.mlp": scale 0.5' for
    what any part gives, by its path, or "encoder.0.self heads 2: zero" for the attentions of torch's own
    layers; and pairs of such a place and a function. edit: as in `Trace`, called at each address, too, with
    what each part gives at such as 'module "blocks.3"'. It first runs unedited, which is checked as ever.
    Raises ValueError as `models.engine.capture` does, and for an edit that does not fit the module, or that
    takes values of a text, since a module reads none.
    """
    read = read_edits(edits)
    applied = Applied(read, [()] * len(read))
    both = one_after_the_other(applied if read else None, edit)

    def fitted(trace: Trace) -> Editing:
        paths = [path for path, _ in module.named_modules() if path]
        for each in read:
            _check_captured(each, trace, paths, type(module).__name__)
        assert both is not None
        return both

    output, trace = engine.capture(module, *inputs, editing=fitted if both else None, **keywords)
    applied.check_done()
    return output, trace


def _check_captured(edit: Edit, trace: Trace, paths: list[str], name: str) -> None:
    if edit.change.texts or edit.change.of_reference:
        raise ValueError(
            f"{edit}: a module reads no texts; capture it with other inputs, and give their values "
            "by a function, as a pair such as ('module \"blocks.3\"', function)"
        )
    place = edit.place
    place.check_address(list(trace), name, paths)
    if place.kind in ("heads", "pattern"):
        n_heads, n_key_heads = (len(trace[f"{place.address.rsplit('.', 1)[0]}.{part}"]) for part in "qk")
        place.check_heads(n_heads, n_key_heads)
        place.check_positions(trace[place.address].shape[1])
