"""Where an edit acts: an address of a trace, with heads and positions."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from models.interventions.numbers import MOST, named_numbers, read_numbers, write_numbers
from models.names import nearest, shortened

_SHORT = {"self": "self.z", "cross": "cross.z", "ff": "ff.out"}
"""What a sublayer alone stands for."""
_OF_HEADS = ("q", "k", "v", "z", "pattern")
PARTS = (
    *(f"{kind}.{name}" for kind in ("self", "cross") for name in (*_OF_HEADS, "out")),
    *(f"ff.{name}" for name in ("pre", "post", "out")),
    *(f"resid_{name}" for name in ("pre", "self", "cross", "post")),
)
"""What of a layer can be edited."""
_ADDRESS = re.compile(r"(encoder|decoder)\.(?:([0-9]{1,4})(?:\.([a-z_.]+))?|(embed|norm))")


@dataclass(frozen=True)
class Place:
    """An address as a trace has it, or that of a layer; heads and positions, in order, None for all.

    Raises ValueError for an address that no model has, and for heads where there are none.
    """

    address: str
    heads: tuple[int, ...] | None = None
    at: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        match = _ADDRESS.fullmatch(self.address)
        if match is None:
            raise ValueError(
                f"{shortened(self.address)!r} is no address; write stack, layer and part, such as "
                "encoder.0.self or decoder.1.ff"
            )
        part = match[3]
        if part is not None:
            part = _SHORT.get(part, part)
            if part not in PARTS:
                raise ValueError(f"{shortened(part)!r} of a layer cannot be edited; {nearest(part, PARTS)}")
            object.__setattr__(self, "address", f"{match[1]}.{int(match[2])}.{part}")
        elif match[2] is not None:
            object.__setattr__(self, "address", f"{match[1]}.{int(match[2])}")
        for name, what in (("heads", "head"), ("at", "position")):
            numbers = getattr(self, name)
            if numbers is not None:
                object.__setattr__(self, name, _checked(numbers, what))
        if self.heads is not None and self.kind not in ("heads", "pattern"):
            raise ValueError(f"{self.short} has no heads of its own; leave heads out")

    @classmethod
    def read(cls, text: str) -> Place:
        """The place that a line names. Raises ValueError."""
        address, *words = text.split() or [""]
        end = words.index("at") if "at" in words else len(words)
        heads, at = words[:end], words[end:]
        if not address or (heads and heads[0] != "heads") or len(heads) == 1 or len(at) == 1:
            raise ValueError(
                f"{shortened(text.strip(), 80)!r} names no place; write such as "
                "encoder.0.self heads 2,5 at 4-6"
            )
        return cls(address, *(_numbers(*part) if part else None for part in (heads, at)))

    def __str__(self) -> str:
        heads = "" if self.heads is None else f" heads {write_numbers(self.heads)}"
        return f"{self.short}{heads}" + ("" if self.at is None else f" at {write_numbers(self.at)}")

    @property
    def short(self) -> str:
        """The address as it is written."""
        for short, whole in _SHORT.items():
            if self.address.endswith(f".{whole}"):
                return self.address.removesuffix(whole) + short
        return self.address

    @property
    def kind(self) -> str:
        """What is there: "heads" [head, position, channel], a "pattern" [head, query, key], a "stream"
        [position, channel], or a whole "layer".
        """
        *_, last = self.address.split(".")
        if last.isdigit():
            return "layer"
        if last == "pattern":
            return last
        return "heads" if last in _OF_HEADS else "stream"

    @property
    def side(self) -> str:
        """The stack that it is in."""
        return self.address.split(".")[0]

    @property
    def keys_side(self) -> str:
        """The stack whose tokens are the keys of an attention here."""
        return "encoder" if ".cross." in self.address else self.side

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

    def check_address(self, known: Collection[str], name: str) -> None:
        """Raises ValueError where a model of this name does not compute what is at these addresses."""
        if set(self.needed) <= set(known):
            return
        if not known:
            raise ValueError(f"{self.short}: nothing in {name!r} can be edited; open another model")
        sides = sorted({address.split(".")[0] for address in known} & {"encoder", "decoder"})
        if self.side not in sides:
            raise ValueError(f"{self.short}: {name!r} has no {self.side}; its stack is {' and '.join(sides)}")
        layers = {int(a.split(".")[1]) for a in known if re.match(rf"{self.side}\.[0-9]+\.", a)}
        layer = self.address.split(".")[1]
        if layer.isdigit() and int(layer) not in layers:
            missing = f"no layer {layer}" if int(layer) > max(layers) else f"nothing to edit in layer {layer}"
            raise ValueError(
                f"{self.short}: the {self.side} of {name!r} has {missing}; give {named_numbers(layers)}"
            )
        at = f"{self.side}.{layer}."
        here = [part for part in PARTS if f"{at}{part}" in known]
        raise ValueError(
            f"{self.short}: this is not computed, or not seen, in {name!r}; of the layer it has "
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
                f"{n_key_heads} key heads, and k and v have these; give 0 to {most - 1}"
            )
        raise ValueError(f"{self}: head {strange[0]} is not there; give 0 to {most - 1}")

    def check_positions(self, tokens: int) -> None:
        """Raises ValueError for a position beyond the tokens that are read."""
        strange = [position for position in self.at or () if position >= tokens]
        if strange:
            raise ValueError(
                f"{self}: position {strange[0]} is beyond the {tokens} tokens of the {self.positions_of}; "
                f"give 0 to {tokens - 1}"
            )


def _checked(numbers: tuple[int, ...], what: str) -> tuple[int, ...]:
    """The numbers in order, each once. Raises ValueError for what is no whole number, and for none."""
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MOST:
            raise ValueError(f"{number!r} is no {what}; give whole numbers from 0 on")
    if not numbers:
        raise ValueError(f"no {what} is given; name at least one, or leave them out for all")
    return tuple(sorted(set(numbers)))


def _numbers(what: str, *words: str) -> tuple[int, ...] | None:
    return read_numbers(" ".join(words), what)
