"""Reads the grammar's words from lexicon.toml, English beside French, and who can do what to what.

Kinds say what a noun can do in a sentence: who eats, what can be crossed, what fits into what. Forms that the
file leaves out are regular.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ...files import read_toml


@dataclass(frozen=True)
class Noun:
    """One noun in both languages; `gender` is the French one.

    Of a profession, `french` is the masculine and `french_plural` the feminine singular; plurals add an s.
    """

    english: str
    french: str
    gender: Literal["m", "f"]
    kinds: frozenset[str]
    english_plural: str = ""
    french_plural: str = ""

    def __post_init__(self) -> None:
        _fill(self, english_plural=with_s(self.english), french_plural=_french_plural(self.french))

    @property
    def is_person(self) -> bool:
        return "person" in self.kinds


@dataclass(frozen=True)
class Adjective:
    """`before`: it precedes the French noun. `euphonic`: masculine before a vowel (bel, vieil, nouvel)."""

    english: str
    masculine: str
    feminine: str = ""
    before: bool = False
    euphonic: str = ""

    def __post_init__(self) -> None:
        _fill(self, feminine=self.masculine + "e" * (not self.masculine.endswith("e")))


@dataclass(frozen=True)
class Verb:
    """`present`: French je, il, nous, vous, ils. A preposition comes before the object ("entrer dans").

    `imperfect` (il, ils) translates the past of a lasting state: "did not fit", ne rentrait pas.
    """

    english: str
    english_past: str
    infinitive: str
    participle: str = ""
    present: tuple[str, ...] = ()
    auxiliary: Literal["avoir", "être"] = "avoir"
    english_preposition: str = ""
    french_preposition: str = ""
    imperfect: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        stem = self.infinitive[:-2]
        soft = stem + "e" if stem.endswith("g") else stem
        present = (stem + "e", stem + "e", soft + "ons", stem + "ez", stem + "ent")
        _fill(self, participle=stem + "é", present=present)


Mood = Literal["refusal", "event", "purpose"]
"""refusal: did not ... because ...; event: did ... because ...; purpose: for S, so that it would be ..."""


@dataclass(frozen=True)
class Frame:
    """The meaning behind every pronoun.

    In "the S did not V the O because it was too ADJ" only ADJ decides what "it" is: `subject_adjectives` fit
    the subject of the frame alone, `object_adjectives` the object alone. In some frames both nouns are of one
    kind (chase) or of any kind (fit): there the part they play decides, not the noun.
    """

    mood: Mood
    verbs: tuple[Verb, ...]
    subjects: tuple[Noun, ...]
    objects: tuple[Noun, ...]
    subject_adjectives: tuple[Adjective, ...]
    object_adjectives: tuple[Adjective, ...]


@dataclass(frozen=True)
class _FrameRow:
    """A frame as the file has it: verbs and adjectives by their English, nouns by their kinds."""

    mood: Mood
    verbs: tuple[str, ...]
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    subject_adjectives: tuple[str, ...]
    object_adjectives: tuple[str, ...]


@dataclass(frozen=True)
class _Suitable:
    """Adjectives that suit nouns of some kinds."""

    kinds: frozenset[str]
    adjectives: tuple[str, ...]


Phrases = tuple[tuple[str, str], ...]
"""English and French."""


@dataclass(frozen=True)
class Additions:
    """What may be added to a sentence; `owned` are the kinds of nouns that one can call "my" or "our"."""

    times: Phrases
    past_times: Phrases
    present_times: Phrases
    prepositions: Phrases
    manners: Phrases
    adverbs: Phrases
    adjectives: tuple[_Suitable, ...]
    other_adjectives: tuple[str, ...]
    people_adjectives: tuple[str, ...]
    owned: frozenset[str]


@dataclass(frozen=True)
class _Lexicon:
    nouns: tuple[Noun, ...]
    professions: tuple[Noun, ...]
    adjectives: tuple[Adjective, ...]
    verbs: tuple[Verb, ...]
    intransitives: tuple[Verb, ...]
    determiners: dict[str, tuple[str, str, str]]
    additions: Additions
    frames: tuple[_FrameRow, ...]


def _fill(lexeme: object, **regular: Any) -> None:
    """Gives a lexeme the regular forms where it has no irregular ones."""
    for name, form in regular.items():
        if not getattr(lexeme, name):
            object.__setattr__(lexeme, name, form)


def with_s(word: str) -> str:
    """An English plural, and the third person of a verb: dogs, boxes, carries."""
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def _french_plural(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith("al"):
        return word[:-1] + "ux"
    return word + ("x" if word.endswith("eau") else "s")


def nouns_of(*kinds: str) -> tuple[Noun, ...]:
    """All nouns that have one of the kinds, in the order of the lexicon."""
    return tuple(noun for noun in NOUNS.values() if not noun.kinds.isdisjoint(kinds))


def adjectives_of(words: Iterable[str]) -> tuple[Adjective, ...]:
    return tuple(ADJECTIVES[word] for word in words)


def _frame(row: _FrameRow) -> Frame:
    verbs = tuple(VERBS[verb] for verb in row.verbs)
    adjectives = adjectives_of(row.subject_adjectives), adjectives_of(row.object_adjectives)
    return Frame(row.mood, verbs, nouns_of(*row.subjects), nouns_of(*row.objects), *adjectives)


_LEXICON = read_toml(Path(__file__).with_name("lexicon.toml"), _Lexicon)
NOUNS = {noun.english: noun for noun in _LEXICON.nouns}
PROFESSIONS = _LEXICON.professions
ADJECTIVES = {adjective.english: adjective for adjective in _LEXICON.adjectives}
VERBS = {verb.english: verb for verb in _LEXICON.verbs}
INTRANSITIVES = {verb.english: verb for verb in _LEXICON.intransitives}
DETERMINERS = _LEXICON.determiners
"""English determiner -> French masculine, feminine, plural ("" where the number does not exist)."""
ADDITIONS = _LEXICON.additions
FRAMES = tuple(map(_frame, _LEXICON.frames))
FRAMES_OF = {mood: tuple(frame for frame in FRAMES if frame.mood == mood) for mood in get_args(Mood)}
