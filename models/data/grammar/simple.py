"""Sentences without a pronoun to resolve: statements, questions, states, professions, which-clauses."""

import random
from collections.abc import Callable
from typing import Literal, NamedTuple

from models.data.grammar.adjectives import ADJECTIVES
from models.data.grammar.clauses import NOTHING, Action, Both, State, act, be, join, phrase
from models.data.grammar.fillers import filler_adjective, place_phrase, relative, time_phrase
from models.data.grammar.frames import FRAMES, PURPOSES, Frame, adjectives_of, nouns_of
from models.data.grammar.lexemes import Adjective, Noun
from models.data.grammar.morphology import Polarity, Tense, Word, words
from models.data.grammar.nouns import NOUNS, PROFESSIONS
from models.data.grammar.phrases import NounPhrase, Pronoun
from models.data.grammar.verbs import INTRANSITIVES, VERBS

Direction = Literal["en-fr", "fr-en"]
BOTH_WAYS: tuple[Direction, ...] = ("en-fr", "fr-en")


class Simple(NamedTuple):
    """A sentence with the words that the held-out split is made on."""

    both: Both
    key: tuple[str, ...]
    pattern: str
    question: bool = False
    directions: tuple[Direction, ...] = BOTH_WAYS


JE, YOU, WE = Pronoun("i", "je", 0), Pronoun("you", "vous", 3), Pronoun("we", "nous", 2)
HE, SHE = Pronoun("he", "il", 1), Pronoun("she", "elle", 1, "f")
THEY, IT = Pronoun("they", "ils", 4), Pronoun("it", "il", 1)
# English does not say whether a speaker or a group is feminine, so these are read from French only
FEMININE_I, FEMININE_WE, FEMININE_THEY = (
    Pronoun("i", "je", 0, "f"),
    Pronoun("we", "nous", 2, "f"),
    Pronoun("they", "elles", 4, "f"),
)
_SPEAKERS = (JE, JE, JE, YOU, WE, HE, SHE, THEY, FEMININE_I, FEMININE_WE, FEMININE_THEY)
_FRENCH_ONLY = (FEMININE_I, FEMININE_WE, FEMININE_THEY)

_ONE_FORM_VERBS = {VERBS["read"], VERBS["fit"]}  # English "read" is past and present: only a context tells
_ADVERBS = (("often", "souvent"), ("always", "toujours"))
_MANNERS = (phrase("slowly", "lentement"), phrase("quickly", "rapidement"))
_SINGULAR, _SINGULAR_WEIGHTS = ("the", "a", "this", "my", "our", "every"), (45, 22, 10, 10, 7, 6)
_PLURAL, _PLURAL_WEIGHTS = (
    ("the", "these", "my", "our", "two", "three", "many", "some"),
    (32, 10, 8, 6, 12, 10, 10, 12),
)
_PEOPLE_STATES = adjectives_of(
    "tired ill busy happy sad hungry thirsty nervous lazy rich famous poor calm angry young careful"
)


def _noun_phrase(
    rng: random.Random, noun: Noun, *, adjective: float = 0.45, definite: bool = False
) -> NounPhrase:
    plural = rng.random() < 0.35
    if definite:
        determiner = "the"
    elif plural:
        determiner = rng.choices(_PLURAL, _PLURAL_WEIGHTS)[0]
    else:
        determiner = rng.choices(_SINGULAR, _SINGULAR_WEIGHTS)[0]
    described = filler_adjective(rng, noun, set()) if rng.random() < adjective else None
    return NounPhrase(noun, plural, determiner, described)


def _tense(rng: random.Random) -> Tense:
    return rng.choice(("past", "present"))


def _speaker_directions(who: NounPhrase | Pronoun) -> tuple[Direction, ...]:
    """French "il" and "elle" alone are read as he and she, so a lone "it" is read from English only."""
    if who == IT:
        return ("en-fr",)
    return ("fr-en",) if who in _FRENCH_ONLY else BOTH_WAYS


_TRANSITIVE_FRAMES = [frame for frame in FRAMES if frame.mood != "purpose" and frame.verbs[0] != VERBS["fit"]]
_PERCEPTION = (VERBS["see"], VERBS["find"], VERBS["like"])


def _transitive(rng: random.Random) -> Simple:
    frame = rng.choice(_TRANSITIVE_FRAMES)
    noun, thing = rng.choice(frame.subjects), rng.choice(frame.objects)
    subject: NounPhrase | Pronoun = _noun_phrase(rng, noun)
    alive = bool(noun.kinds & {"animal", "person"})
    if alive and rng.random() < 0.3:
        subject = rng.choice((JE, YOU, WE, HE, SHE, THEY))
    verb = rng.choice((*frame.verbs, *_PERCEPTION) if alive else frame.verbs)
    question = rng.random() < 0.2
    polarities: tuple[Polarity, ...] = ("yes", "not", "never")
    polarity = rng.choices(polarities, (68, 32, 0) if question else (60, 28, 12))[0]
    if verb in _ONE_FORM_VERBS and not question:
        polarity = "not"
    adverb = rng.choice(_ADVERBS) if polarity == "yes" and not question and rng.random() < 0.15 else None
    definite = polarity != "yes" and rng.random() < 0.6
    thing_phrase = _noun_phrase(rng, thing, definite=definite)
    return _dressed(rng, subject, Action(verb, _tense(rng), polarity, adverb=adverb), thing_phrase, question)


def _dressed(
    rng: random.Random, subject: NounPhrase | Pronoun, action: Action, thing: NounPhrase, question: bool
) -> Simple:
    """The clause with what may stand around it: a question word, a time, a place, a manner."""
    if action.polarity != "yes" and thing.determiner not in ("the", "a", "this", "these", "my", "our"):
        thing = NounPhrase(thing.noun, thing.plural, "the", thing.adjective)
    clause = act(subject, action, thing, question=question)
    noun = subject.noun.english if isinstance(subject, NounPhrase) else subject.english_word
    key = (noun, thing.noun.english)
    if question:
        asked = rng.choice(
            (NOTHING, phrase("why", "pourquoi"), phrase("where", "où"), phrase("when", "quand"))
        )
        return Simple(join(asked, clause), key, "question", True)
    pattern = {"yes": "statement", "not": "negation", "never": "never"}[action.polarity]
    extra = rng.random()
    if extra < 0.2:
        clause = join(time_phrase(rng, action.tense), clause)
    elif extra < 0.4:
        clause = join(clause, time_phrase(rng, action.tense))
    elif extra < 0.5 and not thing.noun.kinds & {"path", "water", "land", "building", "height"}:
        clause = join(clause, place_phrase(rng))
    elif extra < 0.58 and action.polarity == "yes":
        clause = join(clause, rng.choice(_MANNERS))
    return Simple(clause, key, pattern)


_WILFUL_FRAMES = [frame for frame in _TRANSITIVE_FRAMES if frame.subjects[0].kinds & {"animal", "person"}]


def _modal(rng: random.Random) -> Simple:
    frame = rng.choice((*_WILFUL_FRAMES, *PURPOSES))
    # in a purpose frame the subject is who profits; persons do the work
    noun = rng.choice(nouns_of("person") if frame.mood == "purpose" else frame.subjects)
    thing = rng.choice(frame.objects)
    modality: Literal["can", "want"] = rng.choice(("can", "want"))
    polarity: Polarity = "not" if modality == "can" and rng.random() < 0.5 else "yes"
    action = Action(rng.choice(frame.verbs), _tense(rng), polarity, modality)
    clause = act(_noun_phrase(rng, noun), action, _noun_phrase(rng, thing, definite=True))
    return Simple(clause, (noun.english, thing.english), modality)


def _intransitive(rng: random.Random) -> Simple:
    verb = rng.choice(tuple(INTRANSITIVES.values()))
    subject: NounPhrase | Pronoun = _noun_phrase(rng, rng.choice(nouns_of("animal person")))
    if rng.random() < 0.3:
        subject = rng.choice(_SPEAKERS)
    action = Action(verb, _tense(rng), rng.choices(("yes", "not"), (70, 30))[0])
    clause = act(subject, action, None)
    if rng.random() < 0.5:
        clause = join(clause, place_phrase(rng))
    elif rng.random() < 0.5:
        clause = join(time_phrase(rng, action.tense), clause)
    word = subject.noun.english if isinstance(subject, NounPhrase) else subject.english_word
    key = (word, verb.english, action.tense, action.polarity)
    return Simple(clause, key, "intransitive", directions=_speaker_directions(subject))


def _suitable(rng: random.Random, frame: Frame) -> tuple[Noun, Adjective]:
    """A noun with an adjective that makes sense for it."""
    if rng.random() < 0.5:
        return rng.choice(frame.subjects), rng.choice(frame.subject_adjectives)
    return rng.choice(frame.objects), rng.choice(frame.object_adjectives)


def _state(rng: random.Random) -> Simple:
    frame = rng.choice(FRAMES)
    noun, adjective = _suitable(rng, frame)
    subject = _noun_phrase(rng, noun, adjective=0.25)
    if subject.adjective == adjective:
        subject = NounPhrase(noun, subject.plural, subject.determiner)
    state = State(
        adjective, _tense(rng), rng.choices(("yes", "not"), (75, 25))[0], rng.choice(("", "very", "too"))
    )
    question = rng.random() < 0.15
    pattern = "state, question" if question else "state"
    if not question and rng.random() < 0.25:
        clause_on = relative(rng, state.tense, {noun})
        subject = NounPhrase(noun, subject.plural, "the", subject.adjective, clause_on)
        pattern = "which"
    return Simple(be(subject, state, question=question), (noun.english, adjective.english), pattern, question)


def _together(rng: random.Random) -> Simple:
    frame = rng.choice(FRAMES)
    one, other = rng.sample(frame.subjects, 2)
    state = State(rng.choice(frame.subject_adjectives), _tense(rng), degree=rng.choice(("", "very", "too")))
    clause = be(NounPhrase(one), state, companion=NounPhrase(other))
    return Simple(clause, (one.english, "and", other.english), "and")


def _two_states(rng: random.Random) -> Simple:
    """the street was wide and the dog was tired"""
    one, other = _state(rng), _state(rng)
    while one.question or other.question:
        one, other = _state(rng), _state(rng)
    linked = rng.choice((phrase("and", "et"), phrase("but", "mais")))
    return Simple(join(one.both, linked, other.both), (*one.key, *other.key), "two states")


def _fragment(rng: random.Random) -> Simple:
    """the old red car"""
    noun = rng.choice(tuple(NOUNS.values()))
    what = _noun_phrase(rng, noun, adjective=0.6)
    adjective = what.adjective.english if what.adjective else ""
    return Simple(
        Both(what.english(), what.french()), (noun.english, adjective, what.determiner), "noun phrase"
    )


def _personal_state(rng: random.Random) -> Simple:
    who = rng.choice(_SPEAKERS)
    adjective = rng.choice(_PEOPLE_STATES)
    if rng.random() < 0.15:
        who, adjective = IT, rng.choice(tuple(ADJECTIVES.values()))
    state = State(
        adjective, _tense(rng), rng.choices(("yes", "not"), (75, 25))[0], rng.choice(("", "very", "too"))
    )
    question = who in (YOU, HE, SHE, IT) and rng.random() < 0.3
    key = (who.english_word, adjective.english)
    return Simple(be(who, state, question=question), key, "personal", question, _speaker_directions(who))


def _profession(rng: random.Random) -> Simple:
    profession = rng.choice(PROFESSIONS)
    who: NounPhrase | Pronoun = rng.choice(_SPEAKERS)
    if rng.random() < 0.3:
        noun = rng.choice([noun for noun in nouns_of("person") if noun.english not in _OCCUPATIONS])
        who = NounPhrase(noun, rng.random() < 0.3, "the")
    state = State(profession, _tense(rng), rng.choices(("yes", "not"), (75, 25))[0])
    word = who.noun.english if isinstance(who, NounPhrase) else who.english_word
    return Simple(
        be(who, state), (word, profession.english), "profession", directions=_speaker_directions(who)
    )


_OCCUPATIONS = {profession.english for profession in PROFESSIONS} | {
    "waitress",
    "actress",
    "worker",
    "tourist",
}


def _presence(rng: random.Random) -> Simple:
    """there is a cat near the church / where is the cat"""
    noun = rng.choice(nouns_of("animal person load vehicle"))
    if rng.random() < 0.5:
        plural = rng.random() < 0.4
        what = NounPhrase(noun, plural, "two" if plural else "a", filler_adjective(rng, noun, set()))
        there = Both(words("there are" if plural else "there is"), words("il y a"))
        clause = join(there, Both(what.english("object"), what.french("object")), place_phrase(rng))
        return Simple(clause, ("there", noun.english), "there is")
    what = _noun_phrase(rng, noun, definite=True)
    is_, est = ("are", "sont") if what.plural else ("is", "est")
    clause = Both([Word("where"), Word(is_), *what.english()], [Word("où"), Word(est), *what.french()])
    return Simple(clause, ("where", noun.english), "where", True)


_KINDS_OF_SENTENCE: tuple[tuple[Callable[[random.Random], Simple], int], ...] = (
    (_transitive, 36),
    (_state, 20),
    (_profession, 10),
    (_personal_state, 8),
    (_intransitive, 9),
    (_modal, 7),
    (_presence, 6),
    (_together, 4),
    (_two_states, 4),
    (_fragment, 5),
)


def sample_simple(rng: random.Random) -> Simple:
    makers, weights = zip(*_KINDS_OF_SENTENCE, strict=True)
    make: Callable[[random.Random], Simple] = rng.choices(makers, weights)[0]
    return make(rng)
