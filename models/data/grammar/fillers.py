"""What may be added to any sentence: times, places, adjectives and which-clauses."""

import random

from models.data.grammar.clauses import Both, join, phrase
from models.data.grammar.frames import adjectives_of, nouns_of
from models.data.grammar.lexemes import Adjective, Noun
from models.data.grammar.morphology import Tense
from models.data.grammar.phrases import NounPhrase, Relative
from models.data.grammar.verbs import VERBS

_ANY_TIME = [
    phrase("in winter", "en hiver"),
    phrase("in summer", "en été"),
    phrase("at night", "la nuit"),
    phrase("in the morning", "le matin"),
    phrase("in the evening", "le soir"),
]
TIMES: dict[Tense, list[Both]] = {
    "past": [
        *_ANY_TIME,
        phrase("yesterday", "hier"),
        phrase("last week", "la semaine dernière"),
        phrase("last year", "l' année dernière"),
        phrase("this morning", "ce matin"),
        phrase("on monday", "lundi"),
        phrase("on sunday", "dimanche"),
    ],
    "present": [*_ANY_TIME, phrase("now", "maintenant"), phrase("every day", "tous les jours")],
}
_PREPOSITIONS = [
    phrase("near", "près de"),
    phrase("behind", "derrière"),
    phrase("in front of", "devant"),
]
_PLACES = nouns_of("place")
_ENCLOSED = [noun for noun in nouns_of("building land") if "place" in noun.kinds]
_SINGLE_PERSONS = nouns_of("person")

_LOOKS = adjectives_of("big small old new beautiful red blue green white black grey brown")
_FILLERS = (
    ("animal", adjectives_of("big small old young black white brown grey beautiful")),
    ("person", adjectives_of("young old famous rich")),
    ("food", adjectives_of("big small good")),
    ("path water land", adjectives_of("big small beautiful")),
    ("building height", adjectives_of("big small old beautiful white grey")),
    ("text", adjectives_of("new old beautiful long")),
)


def time_phrase(rng: random.Random, tense: Tense) -> Both:
    return rng.choice(TIMES[tense])


def place_phrase(rng: random.Random) -> Both:
    if rng.random() < 0.3:
        place = NounPhrase(rng.choice(_ENCLOSED))
        return join(phrase("in", "dans"), Both(place.english(), place.french()))
    place = NounPhrase(rng.choice(_PLACES))
    return join(rng.choice(_PREPOSITIONS), Both(place.english(), place.french()))


def filler_adjective(rng: random.Random, noun: Noun, taken: set[Adjective]) -> Adjective | None:
    """An adjective that suits the noun and says nothing about the pronoun (`taken` are those that would)."""
    looks = next((words for kinds, words in _FILLERS if noun.kinds & set(kinds.split())), _LOOKS)
    free = [adjective for adjective in looks if adjective not in taken]
    return rng.choice(free) if free else None


def relative(rng: random.Random, tense: Tense, nouns: set[Noun], persons: bool = True) -> Relative:
    """ "which was near the house" or, if `persons` may appear, "which the girl saw"; never about `nouns`."""
    if persons and rng.random() < 0.4:
        someone = NounPhrase(rng.choice([noun for noun in _SINGLE_PERSONS if noun not in nouns]))
        return Relative(someone, VERBS[rng.choice(("see", "find", "like"))], "past")
    return Relative(NounPhrase(rng.choice([noun for noun in _PLACES if noun not in nouns])), None, tense)
