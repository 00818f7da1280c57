"""Writes film reviews whose verdict is known, with negations and clauses that contradict each other."""

import random
import re
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..files import read_toml
from . import one_in


class Thing(NamedTuple):
    """What is judged, with "the". `verb`: was or were; `countable`: takes a or an."""

    text: str
    verb: str = "was"
    countable: bool = False

    @property
    def noun(self) -> str:
        return self.text.removeprefix("the ")


class Opinion(NamedTuple):
    """A word that judges; a verb has two forms, as in "i loved it" and "i did not love it"."""

    text: str
    positive: bool
    base: str = ""


@dataclass(frozen=True)
class _Corpus:
    """What reviews.toml has; `templates` are clauses, sentences and what fills them, by their kind."""

    things: tuple[Thing, ...]
    adjectives: tuple[Opinion, ...]
    verbs: tuple[Opinion, ...]
    templates: dict[str, tuple[str, ...]]


_CORPUS = read_toml(Path(__file__).with_suffix(".toml"), _Corpus)
THINGS, ADJECTIVES, VERBS, _TEMPLATES = _CORPUS.things, _CORPUS.adjectives, _CORPUS.verbs, _CORPUS.templates
_SALT = "reviews"
_HELD_OUT_SHARE = 10  # one pair of thing and opinion in ten
_SLOT = re.compile(r"\{\w+\}")
_WORD = re.compile(r"\w+|[^\w\s]")
Key = tuple[Thing, Opinion]


@dataclass(frozen=True)
class Clause:
    """One judgement; `positive` is what it says in the end, its negation included."""

    text: str
    key: Key
    negated: bool
    positive: bool


@dataclass(frozen=True)
class Review:
    """Words between spaces. `chief`: the clause that decides, `rival`: the other one, if any."""

    text: str
    chief: Clause
    rival: Clause | None = None

    @property
    def positive(self) -> bool:
        return self.chief.positive

    @property
    def contrast(self) -> bool:
        """Whether the other clause says the opposite."""
        return self.rival is not None and self.rival.positive != self.chief.positive

    @property
    def negated(self) -> bool:
        """Whether a negation tells the verdict: every clause that gives it has one."""
        alone = self.rival is None or self.contrast
        return self.chief.negated and (alone or (self.rival is not None and self.rival.negated))


def is_held_out(key: Key) -> bool:
    """True for one pair of thing and opinion in ten, the same ones everywhere: they never meet in training,
    negated or not.
    """
    return one_in(_HELD_OUT_SHARE, _SALT, key[0].text, key[1].text)


def sample_review(rng: random.Random, *, held_out: bool = False) -> Review:
    """A review, as often positive as negative and as often negated as not.

    Neither a negation nor a word that judges tells the verdict by itself. In a held-out review the pair that
    decides is a held-out one, and any other pair is one of training's.
    """
    positive = rng.random() < 0.5
    chief = _clause(rng, positive, held_out)
    form = rng.random()
    if form < 0.4:
        text, rival = chief.text, None
    elif form < 0.55:
        rival = _clause(rng, positive, False)
        text = rng.choice(_TEMPLATES["agreeing"]).format(chief=chief.text, same=rival.text)
    else:
        rival = _clause(rng, not positive, False)
        text = rng.choice(_TEMPLATES["contrasting"]).format(chief=chief.text, other=rival.text)
    return Review(_dressed(rng, text), chief, rival)


@cache
def vocabulary() -> tuple[str, ...]:
    """Every word and sign that a review can have, sorted; "didn't" is made of three."""
    templates = chain.from_iterable(_TEMPLATES.values())
    texts = [_SLOT.sub(" ", text.replace("{was}n't", "wasn't weren't")) for text in templates]
    texts += [f"{thing.text} {thing.verb}" for thing in THINGS]
    texts += [f"{opinion.text} {opinion.base}" for opinion in (*ADJECTIVES, *VERBS)]
    return tuple(sorted({word for text in (*texts, "a an .") for word in _WORD.findall(text)}))


@cache
def _keys(verbs: bool, positive: bool, held_out: bool) -> list[Key]:
    opinions = [opinion for opinion in (VERBS if verbs else ADJECTIVES) if opinion.positive == positive]
    keys = [(thing, opinion) for thing in THINGS for opinion in opinions]
    return [key for key in keys if is_held_out(key) == held_out]


def _clause(rng: random.Random, positive: bool, held_out: bool) -> Clause:
    negated, verbs = rng.random() < 0.5, rng.random() < 0.25
    thing, opinion = key = rng.choice(_keys(verbs, positive != negated, held_out))
    text = rng.choice(_TEMPLATES["negated_" * negated + ("actions" if verbs else "states")]).format(
        thing=thing.text,
        noun=thing.noun,
        was=thing.verb,
        a=("an" if opinion.text[0] in "aeiou" else "a") if thing.countable else "",
        word=opinion.text,
        base=opinion.base,
        very=rng.choice(_TEMPLATES["very_much" if verbs else "very"]),
    )
    return Clause(" ".join(text.split()), key, negated, positive)


def _dressed(rng: random.Random, text: str) -> str:
    """Adds a full stop, mostly, and sometimes a sentence before or after that judges nothing."""
    beside, place = "", rng.random()
    if place < 0.3:
        neutral, when, where = (rng.choice(_TEMPLATES[kind]) for kind in ("neutral", "when", "where"))
        beside = neutral.format(when=when, where=where)
    if place < 0.15:
        return " ".join(f"{beside} {text} .".split())
    if place < 0.3:
        return " ".join(f"{text} . {beside}".split())
    return f"{text} ." if place < 0.8 else text
