"""Lexemes, and how their tables are read: English and French side by side, each word with one translation.

A line reads `english | french | ...`; a second word is an irregular plural (nouns) or feminine (adjectives).
Kinds say what a noun can do in a sentence (`frames.py`): who eats, what can be crossed, what fits into what.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Noun:
    """One noun in both languages; `gender` is the French one, "m" or "f"."""

    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: str
    kinds: frozenset[str]

    @property
    def is_person(self) -> bool:
        return "person" in self.kinds


@dataclass(frozen=True)
class Adjective:
    """`before`: it precedes the French noun. `euphonic`: masculine before a vowel (bel, vieil, nouvel)."""

    english: str
    masculine: str
    feminine: str
    before: bool = False
    euphonic: str | None = None


@dataclass(frozen=True)
class Verb:
    """`present`: French je, il, nous, vous, ils. A preposition comes before the object ("entrer dans").

    `imperfect` (il, ils) translates the past of a lasting state: "did not fit", ne rentrait pas.
    """

    english: str
    english_past: str
    infinitive: str
    participle: str
    present: tuple[str, str, str, str, str]
    auxiliary: str = "avoir"
    english_preposition: str = ""
    french_preposition: str = ""
    imperfect: tuple[str, str] | None = None


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


def english_plural(word: str) -> str:
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


def read_nouns(table: str) -> dict[str, Noun]:
    nouns = {}
    for english, french, gender, kinds in rows(table):
        one, *many = english.split()
        un, *plusieurs = french.split()
        nouns[one] = Noun(
            one,
            many[0] if many else english_plural(one),
            un,
            plusieurs[0] if plusieurs else _french_plural(un),
            gender,
            frozenset(kinds.split()),
        )
    return nouns


def read_adjectives(table: str, *, before: bool = False) -> dict[str, Adjective]:
    adjectives = {}
    for english, french in rows(table):
        masculine, *rest = french.split()
        feminine = rest[0] if rest else masculine if masculine.endswith("e") else masculine + "e"
        adjectives[english] = Adjective(
            english, masculine, feminine, before, rest[1] if len(rest) > 1 else None
        )
    return adjectives


def regular_present(infinitive: str) -> tuple[str, str, str, str, str]:
    stem = infinitive[:-2]
    soft = stem + "e" if stem.endswith("g") else stem
    return stem + "e", stem + "e", soft + "ons", stem + "ez", stem + "ent"


def read_verbs(table: str, *, auxiliary: str = "avoir") -> dict[str, Verb]:
    verbs = {}
    for english, french, *irregular in rows(table):
        base, past = english.split()
        infinitive, *participle = french.split()
        je, il, nous, vous, ils = irregular[0].split() if irregular else regular_present(infinitive)
        done = participle[0] if participle else infinitive[:-2] + "é"
        verbs[base] = Verb(base, past, infinitive, done, (je, il, nous, vous, ils), auxiliary)
    return verbs
