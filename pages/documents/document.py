"""A document that was read: its tokens, and the queries and keys of the attentions that there is room for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from models.byte_units import readable

if TYPE_CHECKING:
    from models.engine.long_cells import Measure
    from models.engine.long_text import LongHeads
    from models.zoo.model import Attention


@dataclass(frozen=True)
class Asked:
    """What a page wants to see: one head of one layer over one document."""

    model: str
    text: str
    stack: str = "encoder.self"
    layer: int = 0
    head: int = 0
    measure: Measure = "largest"
    without: int = 0
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def document(self) -> tuple[Any, ...]:
        """What the pass over the text depends on."""
        return self.model, self.text, self.settings


@dataclass(frozen=True)
class Document:
    """A text that was read. tokens: of each side. stretched: the model reads longer texts than it was made
    for. heads: q and k of the layers that there was room for, by their addresses.
    """

    tokens: dict[str, list[str]]
    stretched: bool
    stacks: dict[str, Attention]
    heads: dict[str, LongHeads]

    def place(self, asked: Asked) -> Place:
        return place_in(self.stacks, asked)

    @property
    def n_bytes(self) -> int:
        named = sum(map(len, self.tokens.values()))
        return sum(heads.n_bytes for heads in self.heads.values()) + 60 * named


@dataclass(frozen=True)
class Place:
    """One head of a document, as near to what was asked for as the model has it."""

    stack: str
    layer: int
    head: int

    @property
    def address(self) -> str:
        side, kind = self.stack.split(".")
        return f"{side}.{self.layer}.{kind}"

    @property
    def sides(self) -> tuple[str, str]:
        """Whose tokens are its queries, and whose its keys."""
        side, kind = self.stack.split(".")
        return side, "encoder" if kind == "cross" else side


def place_in(stacks: dict[str, Attention], asked: Asked) -> Place:
    """Where a wish leads in a model of these stacks."""
    stack = asked.stack if asked.stack in stacks else next(iter(stacks))
    about = stacks[stack]
    return Place(stack, about.nearest(asked.layer), min(asked.head, about.n_heads - 1))


def fits(stacks: dict[str, Attention], tokens: dict[str, list[str]], place: Place, most: int) -> bool:
    """Whether all layers of all stacks have room. Raises ValueError where the wanted one alone has none."""

    def layer_bytes(stack: str, about: Attention) -> int:
        queries, keys = (len(tokens[side]) for side in Place(stack, 0, 0).sides)
        return 4 * about.d_head * (queries * about.n_heads + keys * about.n_key_heads)

    wanted = layer_bytes(place.stack, stacks[place.stack])
    if wanted > most:
        raise ValueError(
            f"One layer's queries and keys take {readable(wanted)}; at most {readable(most)} "
            "are kept; take a shorter document or a smaller model."
        )
    return sum(about.n_layers * layer_bytes(name, about) for name, about in stacks.items()) <= most
