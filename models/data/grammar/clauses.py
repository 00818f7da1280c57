"""Writes clauses in both languages: agreement, conjugation, noun phrases, actions."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .lexicon import DETERMINERS, Adjective, Noun, Verb, with_s

# Agreement, conjugation and elision: from lexemes to the words as written.

Tense = Literal["past", "present"]
Polarity = Literal["yes", "not", "never"]

H_ASPIRE = ("hibou", "hérisson", "hutte", "hangar", "haut")
"""Beginnings of French words whose h forbids elision: le hibou, la hutte; all others elide: l'homme."""

_AVOIR = ("ai", "a", "avons", "avez", "ont")
_ETRE = ("suis", "est", "sommes", "êtes", "sont")


class Word(NamedTuple):
    """One written word; `tag` marks the words whose positions matter ("subject", "object", "pronoun")."""

    text: str
    tag: str | None = None


def words(text: str) -> list[Word]:
    return [Word(word) for word in text.split()]


def starts_with_vowel_sound(word: str) -> bool:
    """True where French elides before the word: a vowel, or a mute h."""
    if word.startswith(H_ASPIRE):
        return False
    return unicodedata.normalize("NFD", word)[0] in "aeiouyhœ"


def noun(lexeme: Noun, plural: bool, language: str) -> str:
    if language == "en":
        return lexeme.english_plural if plural else lexeme.english
    return lexeme.french_plural if plural else lexeme.french


def french_adjective(adjective: Adjective, gender: str, plural: bool, before_vowel: bool = False) -> str:
    """`before_vowel`: right before a noun that starts with a vowel: le vieil homme, but il est vieux."""
    if gender == "f":
        return adjective.feminine + "s" * plural
    if plural:
        masculine = adjective.masculine
        return masculine + ("x" if masculine.endswith("eau") else _plural_s(masculine))
    return adjective.euphonic if before_vowel and adjective.euphonic else adjective.masculine


def _plural_s(word: str) -> str:
    return "" if word.endswith(("s", "x")) else "s"


def participle(verb: Verb, gender: str, plural: bool) -> str:
    feminine = verb.participle + "e" * (gender == "f")
    return feminine + _plural_s(feminine) * plural


def english_do(tense: Tense, third_singular: bool) -> str:
    return "did" if tense == "past" else "does" if third_singular else "do"


def english_be(tense: Tense, person: int) -> str:
    """`person`: index into (i, it, we, you, they)."""
    if tense == "past":
        return ("was", "was", "were", "were", "were")[person]
    return ("am", "is", "are", "are", "are")[person]


def french_be(tense: Tense, person: int) -> str:
    return (("étais", "était", "étions", "étiez", "étaient") if tense == "past" else _ETRE)[person]


def french_verb(verb: Verb, tense: Tense, polarity: Polarity, person: int, gender: str) -> list[str]:
    """Passé composé or present, negation around the finite verb; the participle agrees after être."""
    plural = person in (2, 4)
    rest: list[str] = []
    if tense == "present":
        finite = verb.present[person]
    elif verb.imperfect:
        finite = verb.imperfect[person == 4]
    elif verb.auxiliary == "être":
        finite, rest = _ETRE[person], [participle(verb, gender, plural)]
    else:
        finite, rest = _AVOIR[person], [verb.participle]
    return negated(finite, polarity) + rest


def negated(finite: str, polarity: Polarity) -> list[str]:
    if polarity == "yes":
        return [finite]
    return ["ne", finite, "pas" if polarity == "not" else "jamais"]


_ELIDING = {"le", "la", "de", "que", "ne", "je"}
_CONTRACTED = {("de", "le"): "du", ("de", "les"): "des"}


def elide(sentence: list[Word]) -> list[Word]:
    """French words as they meet: l'animal, qu'il, n'a, j'ai, d'enfants, s'il, but le hibou; de + le = du."""
    result: list[Word] = []
    for word in reversed(sentence):
        next_text = result[0].text if result else ""
        text = word.text
        if (text in _ELIDING and next_text and starts_with_vowel_sound(next_text)) or (
            text == "si" and next_text in ("il", "ils")
        ):
            text = text[:-1] + "'"
        elif (text, next_text) in _CONTRACTED:
            result.pop(0)
            text = _CONTRACTED[text, next_text]
        result.insert(0, Word(text, word.tag))
    return result


# Noun phrases and pronouns, written out in both languages.

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
        return [*words(f"{who} {be} near"), *self.relative.other.english()]

    def _french_relative(self) -> list[Word]:
        """The participle agrees with the object before it: la voiture que la fille a vue."""
        if self.relative is None:
            return []
        verb, other = self.relative.verb, self.relative.other
        if verb:
            have = words(f"{'ont' if other.plural else 'a'} {participle(verb, self.gender, self.plural)}")
            return [Word("que"), *other.french(), *have]
        be = {"past": ("était", "étaient"), "present": ("est", "sont")}[self.relative.tense][self.plural]
        return [*words(f"qui {be} près de"), *other.french()]


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


# Clauses in both languages at once: who does what, who is how, and how clauses join into a sentence.

Modality = Literal["do", "can", "want"]
Degree = Literal["", "too", "very"]

_FRENCH_MODALS: dict[tuple[Modality, Tense], tuple[str, str, str, str, str]] = {
    ("can", "past"): ("pouvais", "pouvait", "pouvions", "pouviez", "pouvaient"),
    ("can", "present"): ("peux", "peut", "pouvons", "pouvez", "peuvent"),
    ("want", "past"): ("voulais", "voulait", "voulions", "vouliez", "voulaient"),
    ("want", "present"): ("veux", "veut", "voulons", "voulez", "veulent"),
}
_FRENCH_DEGREES: dict[Degree, list[Word]] = {"": [], "too": [Word("trop")], "very": [Word("très")]}


class Both(NamedTuple):
    """The same meaning in two languages, as words with tags."""

    english: list[Word]
    french: list[Word]


def phrase(english: str, french: str) -> Both:
    return Both(words(english), words(french))


NOTHING = phrase("", "")


def join(*parts: Both) -> Both:
    return Both(
        [word for part in parts for word in part.english], [word for part in parts for word in part.french]
    )


def sentence(both: Both) -> Both:
    """Last step: the words as they are written next to each other (an apple, l'animal)."""
    following = [*both.english[1:], Word(".")]
    english = [
        Word("an", word.tag) if word.text == "a" and after.text[0] in "aeiou" else word
        for word, after in zip(both.english, following, strict=True)
    ]
    return Both(english, elide(both.french))


@dataclass(frozen=True)
class Action:
    """`adverb` is a pair (often, souvent): English puts it before the verb, French after the finite verb."""

    verb: Verb
    tense: Tense = "past"
    polarity: Polarity = "yes"
    modality: Modality = "do"
    adverb: tuple[str, str] | None = None

    def english(self, person: int) -> list[Word]:
        verb, past, third = self.verb, self.tense == "past", person == 1
        if self.modality == "do" and self.polarity == "not":
            written = [english_do(self.tense, third), "not", verb.english]
        elif self.modality == "do":
            finite = verb.english_past if past else with_s(verb.english) if third else verb.english
            written = ["never", finite] if self.polarity == "never" else [finite]
        elif self.modality == "want":
            written = ["wanted" if past else "wants" if third else "want", "to", verb.english]
        elif self.polarity == "not":
            written = ["could not" if past else "cannot", verb.english]
        else:
            written = ["could" if past else "can", verb.english]
        adverb = [self.adverb[0]] if self.adverb else []
        return words(" ".join([*adverb, *written, verb.english_preposition]))

    def french(self, person: int, gender: str) -> list[Word]:
        if self.modality == "do":
            written = french_verb(self.verb, self.tense, self.polarity, person, gender)
        else:
            finite = _FRENCH_MODALS[self.modality, self.tense][person]
            written = [*negated(finite, self.polarity), self.verb.infinitive]
        adverb = [self.adverb[1]] if self.adverb else []
        return words(" ".join([written[0], *adverb, *written[1:], self.verb.french_preposition]))

    def english_question(self, subject: list[Word], person: int) -> list[Word]:
        """did the dog (not) cross"""
        do = Word(english_do(self.tense, person == 1))
        negation = [Word("not")] if self.polarity == "not" else []
        return [do, *subject, *negation, *words(f"{self.verb.english} {self.verb.english_preposition}")]


def act(
    subject: NounPhrase | Pronoun, action: Action, thing: NounPhrase | None, *, question: bool = False
) -> Both:
    """A clause with a verb; its nouns are tagged "subject" and "object". French asks with est-ce que."""
    english, french = subject.english("subject"), subject.french("subject")
    if question:
        english = action.english_question(english, subject.person)
    else:
        english = [*english, *action.english(subject.person)]
    french = [*french, *action.french(subject.person, subject.gender)]
    if thing:
        # "entrer dans" keeps its article under negation, a direct object loses it
        direct = action.polarity != "yes" and not action.verb.french_preposition
        english += thing.english("object")
        french += thing.french("object", under_negation=direct)
    return Both(english, words("est-ce que") + french if question else french)


@dataclass(frozen=True)
class State:
    """be + adjective, or be + profession (English "a student", French bare "étudiant")."""

    what: Adjective | Noun
    tense: Tense = "past"
    polarity: Polarity = "yes"
    degree: Degree = ""

    def english_complement(self, plural: bool) -> list[Word]:
        if isinstance(self.what, Adjective):
            return words(f"{self.degree} {self.what.english}")
        return words(self.what.english_plural if plural else f"a {self.what.english}")

    def french_complement(self, gender: str, plural: bool) -> list[Word]:
        if isinstance(self.what, Adjective):
            return [*_FRENCH_DEGREES[self.degree], Word(french_adjective(self.what, gender, plural))]
        word = self.what.french if gender == "m" else self.what.french_plural
        return [Word(word + "s" * plural)]


def be(
    subject: NounPhrase | Pronoun,
    state: State,
    *,
    tag: str = "subject",
    question: bool = False,
    companion: NounPhrase | None = None,
) -> Both:
    """A "be" clause. A `companion` ("the dog and the cat") makes it plural, and feminine only if both are."""
    person, gender = subject.person, subject.gender
    english_who, french_who = subject.english(tag), subject.french(tag)
    if companion:
        person = 4
        gender = "f" if gender == companion.gender == "f" else "m"
        english_who += [Word("and"), *companion.english()]
        french_who += [Word("et"), *companion.french()]
    plural = person in (2, 4)
    verb = Word(english_be(state.tense, person))
    negation = [Word("not")] if state.polarity == "not" else []
    start = [verb, *english_who] if question else [*english_who, verb]
    english = [*start, *negation, *state.english_complement(plural)]
    finite = negated(french_be(state.tense, person), state.polarity)
    french = [*french_who, *words(" ".join(finite)), *state.french_complement(gender, plural)]
    return Both(english, words("est-ce que") + french if question else french)
