"""Noun phrases and pronouns, written out in both languages."""

from __future__ import annotations

from dataclasses import dataclass

from models.data.grammar.lexemes import Adjective, Noun, Verb
from models.data.grammar.morphology import (
    Tense,
    Word,
    french_adjective,
    noun,
    participle,
    starts_with_vowel_sound,
    words,
)

DETERMINERS: dict[str, tuple[str, str, str]] = {
    "the": ("le", "la", "les"),
    "a": ("un", "une", ""),
    "this": ("ce", "cette", ""),
    "these": ("", "", "ces"),
    "my": ("mon", "ma", "mes"),
    "our": ("notre", "notre", "nos"),
    "every": ("chaque", "chaque", ""),
    "some": ("", "", "des"),
    "two": ("", "", "deux"),
    "three": ("", "", "trois"),
    "many": ("", "", "beaucoup de"),
}
"""English determiner -> French masculine, feminine, plural ("" where the number does not exist)."""

_BEFORE_VOWEL = {"ce": "cet", "ma": "mon"}


@dataclass(frozen=True)
class Relative:
    """ "which was near the house" (no verb, other = the house) or "which the girl saw" (other = the girl)."""

    other: NounPhrase
    verb: Verb | None
    tense: Tense


@dataclass(frozen=True)
class NounPhrase:
    noun: Noun
    plural: bool = False
    determiner: str = "the"
    adjective: Adjective | None = None
    relative: Relative | None = None

    @property
    def person(self) -> int:
        return 4 if self.plural else 1

    @property
    def gender(self) -> str:
        return self.noun.gender

    def pronoun(self) -> Pronoun:
        """The pronoun that stands for it: English tells persons from things, French only genders."""
        if self.plural:
            return Pronoun("they", "elles" if self.gender == "f" else "ils", 4, self.gender)
        french = "elle" if self.gender == "f" else "il"
        person = "she" if self.gender == "f" else "he"
        return Pronoun(person if self.noun.is_person else "it", french, 1, self.gender)

    def english(self, tag: str | None = None) -> list[Word]:
        adjective = [Word(self.adjective.english)] if self.adjective else []
        head = Word(noun(self.noun, self.plural, "en"), tag)
        return [Word(self.determiner), *adjective, head, *self._english_relative()]

    def french(self, tag: str | None = None, *, under_negation: bool = False) -> list[Word]:
        """`under_negation`: un, une become de after ne ... pas."""
        head = Word(noun(self.noun, self.plural, "fr"), tag)
        before, after = self._french_adjective(head.text)
        core = [*before, head, *after]
        determiner = DETERMINERS[self.determiner][2 if self.plural else self.gender == "f"]
        if starts_with_vowel_sound(core[0].text):
            determiner = _BEFORE_VOWEL.get(determiner, determiner)
        if (under_negation and self.determiner == "a") or (determiner == "des" and before):
            determiner = "de"
        return [*words(determiner), *core, *self._french_relative()]

    def _french_adjective(self, head: str) -> tuple[list[Word], list[Word]]:
        if self.adjective is None:
            return [], []
        vowel = self.adjective.before and starts_with_vowel_sound(head)
        written = [Word(french_adjective(self.adjective, self.gender, self.plural, vowel))]
        return (written, []) if self.adjective.before else ([], written)

    def _english_relative(self) -> list[Word]:
        if self.relative is None:
            return []
        who = "who" if self.noun.is_person else "which"
        if self.relative.verb:
            return [Word(who), *self.relative.other.english(), Word(self.relative.verb.english_past)]
        be = {"past": ("was", "were"), "present": ("is", "are")}[self.relative.tense][self.plural]
        return [Word(who), Word(be), Word("near"), *self.relative.other.english()]

    def _french_relative(self) -> list[Word]:
        """The participle agrees with the object before it: la voiture que la fille a vue."""
        if self.relative is None:
            return []
        verb, other = self.relative.verb, self.relative.other
        if verb:
            have = "ont" if other.plural else "a"
            return [
                Word("que"),
                *other.french(),
                Word(have),
                Word(participle(verb, self.gender, self.plural)),
            ]
        be = {"past": ("était", "étaient"), "present": ("est", "sont")}[self.relative.tense][self.plural]
        return [Word("qui"), Word(be), Word("près"), Word("de"), *other.french()]


@dataclass(frozen=True)
class Pronoun:
    """A subject pronoun; `person` indexes (je, il, nous, vous, ils)."""

    english_word: str
    french_word: str
    person: int
    gender: str = "m"

    @property
    def plural(self) -> bool:
        return self.person in (2, 4)

    def english(self, tag: str | None = None) -> list[Word]:
        return [Word(self.english_word, tag)]

    def french(self, tag: str | None = None) -> list[Word]:
        return [Word(self.french_word, tag)]
