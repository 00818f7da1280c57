"""An edit: a place, and what is done to the values there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from models.interventions.change import Change, read_change
from models.interventions.place import Place
from models.names import shortened

MOST = 200
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
            remedies = {
                "layer": "a layer can only be off",
                "pattern": "a pattern takes zero, scale, from, uniform, identity, only or set",
                "heads": f"{self.change.word} fits {_fitting(self.change)}",
                "stream": f"{self.change.word} fits {_fitting(self.change)}",
            }
            raise ValueError(
                f"{self.change.word!r} does not fit {self.place.short}; {remedies[self.place.kind]}"
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
}


def _fitting(change: Change) -> str:
    return ", and ".join(_EXAMPLES[kind] for kind in change.places)


def read_edits(edits: str | Edit | Iterable[Any]) -> list[Edit]:
    """Edits as they are given: lines or edits, or one text with a line for each. Raises ValueError."""
    given = (
        edits.splitlines() if isinstance(edits, str) else [edits] if isinstance(edits, Edit) else list(edits)
    )
    if len(given) > MOST:
        raise ValueError(f"{len(given)} edits are too many for one pass; give at most {MOST}")
    lines = [line for line in given if isinstance(line, Edit) or str(line).strip()]
    return [line if isinstance(line, Edit) else Edit.read(line) for line in lines]
