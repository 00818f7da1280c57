"""Which word of an English sentence of the grammar depends on which: its syntax, read off the lexicon."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from models.data.grammar.adjectives import ADJECTIVES
from models.data.grammar.morphology import third_person
from models.data.grammar.nouns import NOUNS, PROFESSIONS
from models.data.grammar.pairs import Pair
from models.data.grammar.phrases import DETERMINERS
from models.data.grammar.verbs import VERBS

RELATIONS = {
    "det": "article or number → its noun",
    "poss": "my, our → their noun",
    "dobj": "object → its verb",
    "pobj": "noun → its preposition",
    "coref": "pronoun → the noun it means",
}
"""Names as Clark et al. 2019 have them, and what depends on what."""
_POSSESSIVES = frozenset({"my", "our"})
_PREPOSITIONS = frozenset({"near", "behind", "in", "of", "for"})


class Dependency(NamedTuple):
    """A word that depends on another, both by their places from 0."""

    relation: str
    dependent: int
    head: int


def dependencies(pair: Pair) -> list[Dependency]:
    """Those of `RELATIONS` that hold in the pair's English sentence."""
    found = sorted(_of_nouns(pair.english))
    if mention := pair.english_mention:
        found.append(Dependency("coref", mention.pronoun, mention.antecedent))
    return found


def _of_nouns(words: Sequence[str]) -> Iterator[Dependency]:
    """Of every noun that comes after a determiner, with or without adjectives between."""
    for at, word in enumerate(words):
        if word not in _determiners():
            continue
        noun = at + 1
        while noun < len(words) and words[noun] in ADJECTIVES:
            noun += 1
        if noun == len(words) or words[noun] not in _nouns():
            continue
        yield Dependency("poss" if word in _POSSESSIVES else "det", at, noun)
        before = words[at - 1] if at else ""
        if before in _PREPOSITIONS:
            yield Dependency("pobj", noun, at - 1)
        elif before in _verbs() and not _is_noun(words, at - 1):
            yield Dependency("dobj", noun, at - 1)


def _is_noun(words: Sequence[str], at: int) -> bool:
    """Whether a word that is a verb and a noun, such as watch, is a noun here."""
    return at > 0 and (words[at - 1] in _determiners() or words[at - 1] in ADJECTIVES)


@cache
def _determiners() -> frozenset[str]:
    return frozenset(DETERMINERS) | {"an"}


@cache
def _nouns() -> frozenset[str]:
    return frozenset(
        form for noun in (*NOUNS.values(), *PROFESSIONS) for form in (noun.english, noun.english_plural)
    )


@cache
def _verbs() -> frozenset[str]:
    """The forms of verbs that take an object without a preposition."""
    return frozenset(
        form
        for verb in VERBS.values()
        if not verb.english_preposition
        for form in (verb.english, verb.english_past, third_person(verb.english))
    )
