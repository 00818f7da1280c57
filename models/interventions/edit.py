"""Reads and writes an edit as a line of text: a place in a pass, and what is done to its values."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import groupby
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from ..engine.address import Address
from ..fields import nearest, shortened

MOST_NUMBER = 99_999
MOST_NUMBERS = 4_096
"""Numbers of one list: more fit no screen, and lines of text name many of them with few characters."""


def read_numbers(text: str, what: str) -> tuple[int, ...] | None:
    """The numbers of "2,5-7", in order, each once; None for "all". Raises ValueError for other words."""
    if text.strip() == "all":
        return None
    chosen: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,5})(?:\s*-\s*([0-9]{1,5}))?\s*", part)
        if match is None or int(match[1]) > int(match[2] or match[1]):
            raise ValueError(f"{what} {text.strip()[:40]!r} is no list of whole numbers; write such as 2,5-7")
        numbers = range(int(match[1]), int(match[2] or match[1]) + 1)
        if len(chosen) + len(numbers) > MOST_NUMBERS:
            raise ValueError(f"{what} names more than {MOST_NUMBERS:,} numbers; name fewer, or write all")
        chosen.update(numbers)
    return tuple(sorted(chosen))


def write_numbers(numbers: tuple[int, ...]) -> str:
    """The shortest such list of increasing numbers."""
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    spans = (f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs)
    return ",".join(spans)


def named_numbers(numbers: Collection[int]) -> str:
    """Numbers as a sentence has them: "0 to 5", or "3, 7 and 11" where some between are missing."""
    first, *_, last = ordered = [min(numbers), *sorted(numbers)]
    if last - first == len(numbers) - 1:
        return f"{first} to {last}"
    return f"{', '.join(map(str, ordered[1:-1]))} and {last}"


def read_texts(words: str, example: str) -> tuple[str, ...]:
    """The texts of "one" "another". Raises ValueError for other words, and for an empty text."""
    texts, decoder, rest = [], json.JSONDecoder(), words.strip()
    while rest:
        try:
            text, end = decoder.raw_decode(rest) if rest[0] == '"' else (None, 0)
        except json.JSONDecodeError:
            text, end = None, 0
        if text is None:
            raise ValueError(f"{shortened(rest)!r} is no text in double quotes; write such as {example}")
        texts.append(text)
        rest = rest[end:].strip()
    return tuple(texts)


def write_texts(texts: tuple[str, ...]) -> str:
    """The same texts, in quotes."""
    return " ".join(json.dumps(text, ensure_ascii=False) for text in texts)


def check_texts(texts: tuple[str, ...], example: str) -> None:
    """Raises ValueError where there is no text, or an empty one, or one that nobody can write."""
    if not texts or any(not isinstance(text, str) or not text.strip() for text in texts):
        raise ValueError(f"a text to take values from is empty; write such as {example}")
    for text in texts:
        if re.search(r"[\ud800-\udfff]", text):  # JSON can say them
            raise ValueError(f"a text to take values from holds half of a character; write such as {example}")


_SHORT = {"self": "self.z", "cross": "cross.z", "ff": "ff.out"}
"""What a sublayer alone stands for."""
_OF_HEADS = ("q", "k", "v", "z", "pattern")
PARTS = (
    *(f"{kind}.{name}" for kind in ("self", "cross") for name in (*_OF_HEADS, "out")),
    *(f"ff.{name}" for name in ("pre", "post", "out")),
    *(f"resid_{name}" for name in ("pre", "self", "cross", "post")),
)
"""What of a layer can be edited."""
_MODULE = re.compile(r'module\s+"([^"\s:]{1,200})"')


@dataclass(frozen=True)
class Place:
    """An address as a trace has it, or that of a layer or a module; heads and positions, in order, None for
    all. Raises ValueError for an address that no model has, and for heads where there are none.
    """

    address: str
    heads: tuple[int, ...] | None = None
    at: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        module, where = _MODULE.fullmatch(self.address), Address.parse(self.address)
        is_known = where.stack and (where.layer >= 0 or where.part in ("embed", "norm"))
        if not module and not is_known:
            raise ValueError(
                f"{shortened(self.address)!r} is no address; write stack, layer and part, such as "
                "encoder.0.self or decoder.1.ff"
            )
        part = _SHORT.get(where.part, where.part)
        if where.layer >= 0 and part and part not in PARTS:
            raise ValueError(f"{shortened(part)!r} of a layer cannot be edited; {nearest(part, PARTS)}")
        whole = f'module "{module[1]}"' if module else str(where._replace(part=part))
        object.__setattr__(self, "address", whole)
        for name, what in (("heads", "head"), ("at", "position")):
            numbers = getattr(self, name)
            if numbers is not None:
                object.__setattr__(self, name, _checked(numbers, what))
        if self.heads is not None and self.kind not in ("heads", "pattern"):
            raise ValueError(f"{self.short} has no heads of its own; leave heads out")

    @classmethod
    def read(cls, text: str) -> Place:
        """The place that a line names. Raises ValueError."""
        module = _MODULE.match(text.strip())
        address, *words = text.split() or [""]
        if module is not None:
            address, words = module[0], text.strip()[module.end() :].split()
        end = words.index("at") if "at" in words else len(words)
        heads, at = words[:end], words[end:]
        if not address or (heads and heads[0] != "heads") or len(heads) == 1 or len(at) == 1:
            raise ValueError(
                f"{shortened(text.strip(), 80)!r} names no place; write such as "
                "encoder.0.self heads 2,5 at 4-6"
            )
        numbers = (read_numbers(" ".join(part[1:]), part[0]) if part else None for part in (heads, at))
        return cls(address, *numbers)

    def __str__(self) -> str:
        heads = "" if self.heads is None else f" heads {write_numbers(self.heads)}"
        return f"{self.short}{heads}" + ("" if self.at is None else f" at {write_numbers(self.at)}")

    @property
    def where(self) -> Address:
        """The parts of its address."""
        return Address.parse(self.address)

    @property
    def short(self) -> str:
        """The address as it is written."""
        for short, whole in _SHORT.items():
            if self.address.endswith(f".{whole}"):
                return self.address.removesuffix(whole) + short
        return self.address

    @property
    def module(self) -> str:
        """The path of the module whose output is meant; "" for an address of a trace."""
        match = _MODULE.fullmatch(self.address)
        return "" if match is None else match[1]

    @property
    def kind(self) -> str:
        """What is there: "heads" [head, position, channel], "pattern" [head, query, key], "stream" [position,
        channel], what a "module" gives [position, channel], or a whole "layer".
        """
        if self.module:
            return "module"
        if not self.where.part:
            return "layer"
        name = self.where.name
        return name if name == "pattern" else "heads" if name in _OF_HEADS else "stream"

    @property
    def side(self) -> str:
        """The stack that it is in."""
        return self.where.stack

    @property
    def keys_side(self) -> str:
        """The stack whose tokens are the keys of an attention here."""
        return self.where.keys_stack

    @property
    def positions_of(self) -> str:
        """The stack whose tokens its positions count."""
        return self.keys_side if self.address.endswith((".k", ".v")) else self.side

    @property
    def needed(self) -> tuple[str, ...]:
        """The addresses of a trace where it acts."""
        if self.kind == "layer":
            return (f"{self.address}.resid_pre", f"{self.address}.resid_post")
        return (self.address,)

    def check_address(self, known: Collection[str], name: str, modules: Collection[str] = ()) -> None:
        """Raises ValueError where a model of this name does not compute what is at these addresses, or has no
        such module; modules: the paths of those that it has.
        """
        if self.kind == "layer" and f"{self.address}.self.depth" in known:
            raise ValueError(
                f"{self.short}: what a layer of {name!r} gives is read by all later ones, so it is not "
                f"switched off in one place; edit {self.address}.self.out and {self.address}.ff.out"
            )
        if set(self.needed) <= set(known) or self.module in modules:
            return
        if not known:
            raise ValueError(f"{self.short}: nothing in {name!r} can be edited; open another model")
        if self.module:
            near = " or ".join(get_close_matches(self.module, modules))
            remedy = f"did you mean {near}?" if near else "its paths are those of net.named_modules()"
            raise ValueError(f"{self.address}: {name!r} has no such module; {remedy}")
        places = [Address.parse(address) for address in known]
        sides = sorted({each.stack for each in places if each.stack})
        if self.side not in sides:
            raise ValueError(f"{self.short}: {name!r} has no {self.side}; its stack is {' and '.join(sides)}")
        layers = {e.layer for e in places if e.stack == self.side and e.layer >= 0}
        layer = self.where.layer
        if layer >= 0 and layer not in layers:
            missing = f"no layer {layer}" if layer > max(layers) else f"nothing to edit in layer {layer}"
            raise ValueError(
                f"{self.short}: the {self.side} of {name!r} has {missing}; give {named_numbers(layers)}"
            )
        here = [part for part in PARTS if self.where._replace(part=part) in places]
        raise ValueError(
            f"{self.short}: {name!r} does not compute this, or hides it; of the layer it has "
            f"{', '.join(here) or 'nothing to edit'}"
        )

    def check_heads(self, n_heads: int, n_key_heads: int) -> None:
        """Raises ValueError for a head that an attention of so many has not."""
        grouped = self.address.endswith((".k", ".v")) and n_key_heads < n_heads
        most = n_key_heads if grouped else n_heads
        strange = [head for head in self.heads or () if head >= most]
        if not strange:
            return
        if grouped:
            raise ValueError(
                f"{self}: head {strange[0]} is not there, since {n_heads} query heads share "
                f"{n_key_heads} key heads; give 0 to {most - 1}"
            )
        raise ValueError(f"{self}: head {strange[0]} is not there; give 0 to {most - 1}")

    def check_positions(self, tokens: int) -> None:
        """Raises ValueError for a position beyond the tokens that are read."""
        strange = [position for position in self.at or () if position >= tokens]
        if strange:
            raise ValueError(
                f"{self}: position {strange[0]} is beyond the {tokens} tokens of the "
                f"{'text' if self.module else self.positions_of}; give 0 to {tokens - 1}"
            )


def _checked(numbers: tuple[int, ...], what: str) -> tuple[int, ...]:
    """The numbers in order, each once. Raises ValueError for what is no whole number, and for none."""
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MOST_NUMBER:
            raise ValueError(f"{number!r} is no {what}; give whole numbers from 0 on")
    if not numbers:
        raise ValueError(f"no {what} is given; name at least one, or leave them out for all")
    return tuple(sorted(set(numbers)))


EVERYWHERE = ("heads", "pattern", "stream", "module")
REFERENCE = "reference"
"""The texts that a model brings with it, to take means over."""


@dataclass
class Context:
    """What of the pass, and of other texts, a change may look at where it acts.

    others: the values at the same address in the texts that it asked for, in their order. open: which keys
    each query may look at, [head or 1, query, key], for patterns. entering: the stream that entered the
    layer. named: whether the positions were named one by one, not left out for all; rows: those that are
    edited. place: for sentences.
    """

    place: str
    others: list[Tensor] = field(default_factory=list)
    open: Tensor | None = None
    entering: Tensor | None = None
    rows: tuple[int, ...] | None = None


class Change(ABC):
    """One kind of change: a frozen dataclass whose fields are what follows its word in a line.

    word: what a line calls it. places: the kinds of places that it fits. example, meaning: for pages.
    """

    word: ClassVar[str]
    places: ClassVar[tuple[str, ...]] = EVERYWHERE
    example: ClassVar[str]
    meaning: ClassVar[str]

    @classmethod
    def read(cls, words: str) -> Change:
        """The change of what follows the word in a line, of most kinds nothing. Raises ValueError."""
        if words:
            raise ValueError(f"{cls.word!r} is followed by {shortened(words)!r}; leave that out")
        return cls()

    @property
    def words(self) -> str:
        """What follows the word in a line, so that `read` gives the same."""
        return ""

    @property
    def texts(self) -> tuple[str, ...]:
        """Other texts whose values it takes."""
        return ()

    @property
    def of_reference(self) -> bool:
        """Whether it takes values of the model's own reference texts, after those of `texts`."""
        return False

    @property
    def aligned(self) -> bool:
        """Whether each position takes the value of the same position of another text."""
        return False

    @property
    def keys(self) -> tuple[int, ...]:
        """The keys that it names."""
        return ()

    @abstractmethod
    def apply(self, value: Tensor, context: Context) -> Tensor:
        """The new values, of the same shape, for all heads and positions; the edit's own are taken of it."""

    def __str__(self) -> str:
        return f"{self.word} {self.words}".strip()


KINDS: dict[str, type[Change]] = {}
"""Every kind of change by its word."""
Kind = TypeVar("Kind", bound=type[Change])


def register(kind: Kind) -> Kind:
    """Enters a kind of change under its word."""
    KINDS[kind.word] = kind
    return kind


def read_change(text: str) -> Change:
    """The change that a line names. Raises ValueError."""
    from . import kinds  # noqa: F401 (every kind registers itself)

    word, _, rest = text.strip().partition(" ")
    if word not in KINDS:
        raise ValueError(f"{shortened(word)!r} is no change; {nearest(word, KINDS)}")
    return KINDS[word].read(rest.strip())


def open_keys(value: Tensor, context: Context) -> Tensor:
    """Which keys each query may look at, [head, query, key]."""
    allowed = value > 0 if context.open is None else context.open
    return allowed.expand_as(value)


def only_where_open(new: Tensor, value: Tensor, context: Context, needed: Tensor) -> Tensor:
    """`new` in the rows that may look at all that is `needed` of them, elsewhere what was there.

    Raises ValueError where such a row was named.
    """
    hidden = needed & ~open_keys(value, context)
    refused = hidden.any(dim=-1, keepdim=True)  # [head, query, 1]
    rows = sorted(set(refused[..., 0].nonzero()[:, -1].tolist()) & set(context.rows or ()))
    if rows:
        key = int(hidden[:, rows[0]].any(dim=0).nonzero()[0])
        raise ValueError(
            f"{context.place}: the mask hides position {key} from {rows[0]}; "
            "choose another key, or another row"
        )
    return torch.where(refused, value, new)


@dataclass(frozen=True)
class Function(Change):
    """What a function of Python makes of the values of the heads that are meant, at all positions.

    No line can hold one, so it is not registered.
    """

    function: Callable[[Tensor], Tensor]

    word = "fn"

    @property
    def words(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def apply(self, value: Tensor, context: Context) -> Tensor:
        return self.function(value)


MOST_EDITS = 200
"""Edits of one pass."""


@dataclass(frozen=True)
class Edit:
    """A place and a change that fits it; `str` writes its line, `Edit.read` reads one.

    Raises ValueError where the change does not fit the place.
    """

    place: Place
    change: Change

    def __post_init__(self) -> None:
        if self.place.kind not in self.change.places:
            fits = f"{self.change.word} fits {', and '.join(_EXAMPLES[kind] for kind in self.change.places)}"
            remedies = {
                "layer": "a layer can only be off",
                "pattern": "a pattern takes zero, scale, from, uniform, identity, only or set",
                "module": "what a module gives takes zero, scale, mean, from or a function",
            }
            raise ValueError(
                f"{self.change.word!r} does not fit {self.place.short}; {remedies.get(self.place.kind, fits)}"
            )

    @classmethod
    def read(cls, line: str) -> Edit:
        """The edit of a line such as "encoder.0.self heads 2,5: zero". Raises ValueError."""
        if not isinstance(line, str) or ":" not in line:
            raise ValueError(
                f"{shortened(str(line), 80)!r} is no edit; write place: change, such as "
                "encoder.0.self heads 2,5: zero"
            )
        place, _, change = line.partition(":")
        return cls(Place.read(place), read_change(change))

    def __str__(self) -> str:
        return f"{self.place}: {self.change}"


_EXAMPLES = {
    "layer": "a whole layer, such as encoder.1",
    "pattern": "a pattern, such as encoder.1.self.pattern",
    "heads": "q, k, v and z of heads, such as encoder.1.self",
    "stream": "the stream and what is added to it, such as encoder.1.ff",
    "module": 'what a module gives, such as module "model.layers.3.mlp"',
}


def read_edits(edits: str | Edit | Iterable[Any]) -> list[Edit]:
    """Edits as they are given: lines, edits or pairs of a place and a function, or one text with a line for
    each. Raises ValueError.
    """
    if isinstance(edits, str | Edit):
        edits = [edits] if isinstance(edits, Edit) else edits.splitlines()
    entries = list(edits)
    if len(entries) > MOST_EDITS:
        raise ValueError(f"{len(entries)} edits are too many for one pass; give at most {MOST_EDITS}")
    return [_edit_of(entry) for entry in entries if isinstance(entry, Edit) or str(entry).strip()]


def _edit_of(entry: Any) -> Edit:
    if isinstance(entry, tuple):
        return Edit(Place.read(entry[0]), Function(entry[1]))
    return entry if isinstance(entry, Edit) else Edit.read(entry)
