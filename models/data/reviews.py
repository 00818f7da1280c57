"""Film reviews whose verdict is known: by negation, and by which of two clauses has the last word."""

import hashlib
import random
import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

# What reviews are made of: things to judge, words that judge, and the clauses and sentences around them.


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


_COUNTABLE = "plot story ending script cast hero villain soundtrack title opening finale chase romance"
_MASS = "acting music dialogue humour lighting photography pacing"
_PLURAL = "costumes jokes songs effects dances pictures colours"
THINGS = (
    *(Thing(f"the {noun}", countable=True) for noun in _COUNTABLE.split()),
    *(Thing(f"the {noun}") for noun in _MASS.split()),
    *(Thing(f"the {noun}", "were") for noun in _PLURAL.split()),
)
_GOOD = (
    "superb brilliant good great wonderful funny charming gripping moving clever fresh excellent beautiful "
    "witty elegant touching convincing memorable delightful fascinating impressive vivid lively lovely"
)
_BAD = (
    "dull boring bad terrible awful weak tedious clumsy predictable shallow stale poor slow silly flat "
    "dreadful messy forgettable annoying pointless bland lifeless confusing painful"
)
_LIKED = "loved love, enjoyed enjoy, liked like, admired admire, adored adore, praised praise"
_LOATHED = "hated hate, disliked dislike, despised despise, detested detest, regretted regret, loathed loathe"
ADJECTIVES = (
    *(Opinion(word, True) for word in _GOOD.split()),
    *(Opinion(word, False) for word in _BAD.split()),
)
VERBS = (
    *(Opinion(past, True, base) for past, base in map(str.split, _LIKED.split(","))),
    *(Opinion(past, False, base) for past, base in map(str.split, _LOATHED.split(","))),
)

# Slots: {thing} with "the", {noun} without; {was} or were; {a} or an, or nothing; {word} that judges; {base}
# of a verb; {very} in its many ways. A clause that negates turns the word's judgement round, near or far.
STATES = (
    "{thing} {was} {very} {word}",
    "{thing} {was} {very} {word}",
    "i found {thing} {very} {word}",
    "i think that {thing} {was} {word}",
    "it had {a} {word} {noun}",
    "everybody called {thing} {word}",
)
NEGATED_STATES = (
    "{thing} {was} not {word}",
    "{thing} {was} not at all {word}",
    "{thing} {was}n't {word}",
    "{thing} {was} never {word}",
    "{thing} {was} hardly {word}",
    "{thing} {was} far from {word}",
    "{thing} {was} anything but {word}",
    "i did not find {thing} {word}",
    "i do not think that {thing} {was} {word}",
    "it did not have {a} {word} {noun}",
    "nobody called {thing} {word}",
)
ACTIONS = ("i {very} {word} {thing}", "we all {word} {thing}", "my sister {word} {thing}")
NEGATED_ACTIONS = (
    "i did not {base} {thing}",
    "i didn't {base} {thing}",
    "i never {word} {thing}",
    "i could not {base} {thing}",
    "nobody {word} {thing}",
)
VERY = ("", "", "very", "really", "truly", "absolutely", "so", "quite")
VERY_MUCH = ("", "", "really", "truly", "absolutely", "quite")  # those that a verb can have

# Two clauses: {chief} decides, {other} says the opposite, {same} agrees.
AGREEING = ("{chief} and {same}", "{same} and {chief}")
CONTRASTING = (
    "{other} but {chief}",
    "{other} , but {chief}",
    "{other} . however , {chief}",
    "although {other} , {chief}",
    "even though {other} , {chief}",
    "{chief} , although {other}",
    "{chief} even though {other}",
)
# Sentences that judge nothing, before or after.
NEUTRAL = ("i saw it {when} {where} .", "we watched it {when} {where} .", "i was there {when} {where} .")
WHEN = ("", "yesterday", "on monday", "on sunday", "last week", "at night", "in winter", "for two hours")
WHERE = ("", "at home", "in paris", "in a small cinema", "with my brother", "with the children", "on a train")


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
    digest = hashlib.sha256("|".join((_SALT, key[0].text, key[1].text)).encode()).digest()
    return int.from_bytes(digest[:8], "big") % _HELD_OUT_SHARE == 0


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
        text = rng.choice(AGREEING).format(chief=chief.text, same=rival.text)
    else:
        rival = _clause(rng, not positive, False)
        text = rng.choice(CONTRASTING).format(chief=chief.text, other=rival.text)
    return Review(_dressed(rng, text), chief, rival)


@cache
def vocabulary() -> tuple[str, ...]:
    """Every word and sign that a review can have, sorted; "didn't" is made of three."""
    frames = (STATES, NEGATED_STATES, ACTIONS, NEGATED_ACTIONS)
    sentences = (*(text for frame in frames for text in frame), *AGREEING, *CONTRASTING)
    fillers = (*NEUTRAL, *WHEN, *WHERE, *VERY, *VERY_MUCH)
    texts = [_SLOT.sub(" ", text.replace("{was}n't", "wasn't weren't")) for text in (*sentences, *fillers)]
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
    frames: tuple[str, ...] = NEGATED_STATES if negated else STATES
    if verbs:
        frames = NEGATED_ACTIONS if negated else ACTIONS
    text = rng.choice(frames).format(
        thing=thing.text,
        noun=thing.noun,
        was=thing.verb,
        a=("an" if opinion.text[0] in "aeiou" else "a") if thing.countable else "",
        word=opinion.text,
        base=opinion.base,
        very=rng.choice(VERY_MUCH if verbs else VERY),
    )
    return Clause(" ".join(text.split()), key, negated, positive)


def _dressed(rng: random.Random, text: str) -> str:
    """Adds a full stop, mostly, and sometimes a sentence before or after that judges nothing."""
    beside, place = "", rng.random()
    if place < 0.3:
        beside = rng.choice(NEUTRAL).format(when=rng.choice(WHEN), where=rng.choice(WHERE))
    if place < 0.15:
        return " ".join(f"{beside} {text} .".split())
    if place < 0.3:
        return " ".join(f"{text} . {beside}".split())
    return f"{text} ." if place < 0.8 else text
