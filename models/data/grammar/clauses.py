"""Clauses in both languages at once: who does what, who is how, and how clauses join into a sentence."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from models.data.grammar.lexemes import Adjective, Noun, Verb
from models.data.grammar.morphology import (
    Polarity,
    Tense,
    Word,
    articles_of_english,
    elide,
    english_be,
    english_do,
    english_verb,
    french_adjective,
    french_be,
    french_verb,
    negated,
    words,
)
from models.data.grammar.phrases import NounPhrase, Pronoun

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
    return Both(articles_of_english(both.english), elide(both.french))


@dataclass(frozen=True)
class Action:
    """`adverb` is a pair (often, souvent): English puts it before the verb, French after the finite verb."""

    verb: Verb
    tense: Tense = "past"
    polarity: Polarity = "yes"
    modality: Modality = "do"
    adverb: tuple[str, str] | None = None

    def english(self, person: int) -> list[Word]:
        if self.modality == "do":
            written = english_verb(self.verb, self.tense, self.polarity, person)
        elif self.modality == "want":
            want = "wanted" if self.tense == "past" else "wants" if person == 1 else "want"
            written = [want, "to", self.verb.english]
        elif self.polarity == "not":
            written = [*(("could", "not") if self.tense == "past" else ("cannot",)), self.verb.english]
        else:
            written = ["could" if self.tense == "past" else "can", self.verb.english]
        adverb = [self.adverb[0]] if self.adverb else []
        return words(" ".join([*adverb, *written, self.verb.english_preposition]))

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
