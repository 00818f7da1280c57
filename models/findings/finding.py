"""What a finding is: a published claim, and a function that measures it on a model that is here."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from ..fields import Field

if TYPE_CHECKING:
    from ..zoo.model import Model


Tell = Callable[[float], None]
"""Hears which share of the work is done, and may raise to end it."""


@dataclass(frozen=True)
class Number:
    """What was measured here, beside what the paper has for it, in words; "" where it has nothing."""

    label: str
    value: int | float
    published: str = ""
    digits: int = 2


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Numbers to be drawn: a series of `values` for each name, over `x`.

    x: numbers, drawn as curves, or names, drawn as bars; bars are of one series. line: a level to compare
    with, and its name. digits: of the numbers over bars.
    """

    title: str
    x_label: str
    y_label: str
    x: Sequence[int | float] | Sequence[str]
    series: dict[str, Sequence[int | float]]
    line: tuple[int | float, str] | None = None
    log_x: bool = False
    digits: int = 2


@dataclass(frozen=True, kw_only=True)
class Film:
    """A head's pattern as it forms: patterns [step, query, key] after each of `steps`, over `tokens`."""

    title: str
    tokens: tuple[str, ...]
    steps: tuple[int, ...]
    patterns: Tensor


@dataclass(frozen=True, kw_only=True)
class BarFilm:
    """Bars as they grow: values [step, bar] after each of `steps`, a name for each bar."""

    title: str
    x_label: str
    y_label: str
    names: tuple[str, ...]
    steps: tuple[int, ...]
    values: Tensor


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a measurement gave: its numbers, whether the claim holds here by the finding's rule, and why.

    film: where the finding is of a training, what formed in it; charts over steps then move with it.
    """

    numbers: tuple[Number, ...]
    holds: bool
    said: str
    charts: tuple[Chart, ...]
    film: Film | BarFilm | None = None


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A published result that can be measured on a model. Its words are in words.toml, see `words_of`.

    name: in links. claim: as the paper has it, with its numbers. paper: its authors, year, title and section.
    rule: when it "holds here", and caveat: what this measurement cannot say, both with parameters in braces,
    as `str.format` writes them ("{share:.0%}"), so that they say what is in force. model: the shipped one
    that it is measured on unless another is chosen, or "" for one that is about runs that ship. needs: what a
    model must be, as the end of "it needs". fits: whether a model's offer says that it is so, as far as one
    knows before it is loaded. measure: takes a model, a `Tell` and the parameters; it raises ValueError, with
    a sentence, for a model that it cannot be measured on. code: the functions that make the numbers, for
    whoever wants to read them. packages: those that it needs beside torch.
    """

    name: str
    title: str
    claim: str
    paper: str
    rule: str
    caveat: str
    model: str = ""
    needs: str = ""
    fits: Callable[[dict[str, Any]], bool] = lambda sizes: False
    measure: Callable[..., Outcome]
    parameters: Mapping[str, Field] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    code: tuple[Callable[..., Any], ...] = ()

    @property
    def brief(self) -> str:
        """The claim in one line: its first sentence, as far as a colon or semicolon, and whose it is."""
        first = re.split(r"[.;:](?= |$)", self.claim, maxsplit=1)[0]
        return f"{first} ({self.paper.partition(',')[0]})."

    def measured(
        self, model: Model | None = None, tell: Tell = lambda share: None, **parameters: Any
    ) -> Outcome:
        """The outcome on a model, its own where none is given, with its own parameters for those left out.

        Raises ValueError for a parameter that it has not, and a model where it is about runs that ship.
        """
        from ..zoo import load_model

        if model is not None and not self.model:
            raise ValueError(f"finding {self.name!r} is about runs that ship, not about a model; give none")
        own = load_model(self.model) if model is None and self.model else model
        return self.measure(own, tell, **self._values(parameters))

    def words(self, **parameters: Any) -> tuple[str, str]:
        """The rule and the caveat with these parameters, and the finding's own where none are given."""
        values = self._values(parameters)
        return self.rule.format(**values), self.caveat.format(**values)

    def _values(self, settings: dict[str, Any]) -> dict[str, Any]:
        usual = {name: each.default for name, each in self.parameters.items()}
        for name in settings:
            if name not in usual:
                known = ", ".join(usual) or "none"
                raise ValueError(f"{name!r} is no parameter of finding {self.name!r}; it has {known}")
        return {**usual, **settings}


_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def in_words(label: str) -> str:
    """A head as sentences name it: layer 1 head 3, of a chart's L1 H3."""
    return label.replace("L", "layer ").replace("H", "head ")


def words_of(name: str) -> dict[str, Any]:
    """The fields of a finding that are words: name, title, claim, paper, rule, caveat, needs."""
    return {"name": name, **_WORDS[name]}
