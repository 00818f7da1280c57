"""Families of shipped models: each member differs from the others in what dials say, and in nothing else."""

import itertools
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Family:
    """title, summary, taught, examples, showcase: as an offer has them. dials: fields of the config, each
    with the values of its members; first: the member that opens first. score: what members are compared by.
    recipe: how each is trained, beside its dials.
    """

    name: str
    title: str
    summary: str
    taught: str
    dials: dict[str, list[Any]]
    first: dict[str, Any]
    score: str
    examples: tuple[dict[str, Any], ...]
    showcase: dict[str, Any]
    recipe: dict[str, Any] = field(default_factory=dict)

    def member(self, values: dict[str, Any]) -> str:
        """The name of the member with these values, one for each dial."""
        return f"{self.name}/{'-'.join(str(values[dial]) for dial in self.dials)}"

    def members(self) -> dict[str, dict[str, Any]]:
        """All members by name, with their values."""
        points = itertools.product(*self.dials.values())
        every = [dict(zip(self.dials, values, strict=True)) for values in points]
        return {self.member(values): values for values in every}


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FAMILIES = {name: Family(name=name, **fields) for name, fields in _TABLE.items()}
