"""Agreement, conjugation and elision: from lexemes to the words as written."""

import unicodedata
from typing import Literal, NamedTuple

from models.data.grammar.lexemes import Adjective, Noun, Verb

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
        return adjective.masculine + (
            "x" if adjective.masculine.endswith("eau") else _plural_s(adjective.masculine)
        )
    return adjective.euphonic if before_vowel and adjective.euphonic else adjective.masculine


def _plural_s(word: str) -> str:
    return "" if word.endswith(("s", "x")) else "s"


def participle(verb: Verb, gender: str, plural: bool) -> str:
    feminine = verb.participle + "e" * (gender == "f")
    return feminine + _plural_s(feminine) * plural


def third_person(base: str) -> str:
    """he crosses, he carries, he goes."""
    if base.endswith(("s", "x", "ch", "sh")):
        return base + "es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def english_do(tense: Tense, third_singular: bool) -> str:
    return "did" if tense == "past" else "does" if third_singular else "do"


def english_be(tense: Tense, person: int) -> str:
    """`person`: index into (i, it, we, you, they)."""
    if tense == "past":
        return ("was", "was", "were", "were", "were")[person]
    return ("am", "is", "are", "are", "are")[person]


def french_be(tense: Tense, person: int) -> str:
    if tense == "past":
        return ("étais", "était", "étions", "étiez", "étaient")[person]
    return _ETRE[person]


def english_verb(verb: Verb, tense: Tense, polarity: Polarity, person: int) -> list[str]:
    third = person == 1
    if polarity == "not":
        return [english_do(tense, third), "not", verb.english]
    finite = verb.english_past if tense == "past" else third_person(verb.english) if third else verb.english
    return ["never", finite] if polarity == "never" else [finite]


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


def articles_of_english(sentence: list[Word]) -> list[Word]:
    """a -> an before a vowel."""
    following = [*sentence[1:], Word(".")]
    return [
        Word("an", word.tag) if word.text == "a" and next_word.text[0] in "aeiou" else word
        for word, next_word in zip(sentence, following, strict=True)
    ]


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
