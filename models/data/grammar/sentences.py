"""Composes sentences in both languages: some with a pronoun that only meaning resolves, some without one."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from .clauses import (
    NOTHING,
    Action,
    Both,
    Degree,
    Modality,
    NounPhrase,
    Polarity,
    Pronoun,
    Relative,
    State,
    Tense,
    Word,
    act,
    be,
    join,
    phrase,
    words,
)
from .lexicon import (
    ADDITIONS,
    ADJECTIVES,
    FRAMES,
    FRAMES_OF,
    INTRANSITIVES,
    NOUNS,
    PROFESSIONS,
    VERBS,
    Adjective,
    Frame,
    Noun,
    Phrases,
    Verb,
    adjectives_of,
    nouns_of,
)

# What may be added to any sentence: times, places, adjectives and which-clauses.


def _phrases(pairs: Phrases) -> list[Both]:
    return [phrase(english, french) for english, french in pairs]


TIMES: dict[Tense, list[Both]] = {
    "past": _phrases(ADDITIONS.times + ADDITIONS.past_times),
    "present": _phrases(ADDITIONS.times + ADDITIONS.present_times),
}
_PREPOSITIONS = _phrases(ADDITIONS.prepositions)
_PLACES = nouns_of("place")
_ENCLOSED = [noun for noun in nouns_of("building", "land") if "place" in noun.kinds]
_SINGLE_PERSONS = nouns_of("person")
_SUITABLE = [(row.kinds, adjectives_of(row.adjectives)) for row in ADDITIONS.adjectives]
_OTHER_ADJECTIVES = adjectives_of(ADDITIONS.other_adjectives)


def time_phrase(rng: random.Random, tense: Tense) -> Both:
    return rng.choice(TIMES[tense])


def place_phrase(rng: random.Random) -> Both:
    if rng.random() < 0.3:
        place = NounPhrase(rng.choice(_ENCLOSED))
        return join(phrase("in", "dans"), Both(place.english(), place.french()))
    place = NounPhrase(rng.choice(_PLACES))
    return join(rng.choice(_PREPOSITIONS), Both(place.english(), place.french()))


def filler_adjective(rng: random.Random, noun: Noun, deciding: set[Adjective]) -> Adjective | None:
    """An adjective that suits the noun and says nothing about the pronoun, as `deciding` ones would."""
    suitable = next((words for kinds, words in _SUITABLE if noun.kinds & kinds), _OTHER_ADJECTIVES)
    free = [adjective for adjective in suitable if adjective not in deciding]
    return rng.choice(free) if free else None


def relative(rng: random.Random, tense: Tense, nouns: set[Noun], persons: bool = True) -> Relative:
    """ "which was near the house" or, if `persons` may appear, "which the girl saw"; never about `nouns`."""
    if persons and rng.random() < 0.4:
        someone = NounPhrase(rng.choice([noun for noun in _SINGLE_PERSONS if noun not in nouns]))
        return Relative(someone, VERBS[rng.choice(("see", "find", "like"))], "past")
    return Relative(NounPhrase(rng.choice([noun for noun in _PLACES if noun not in nouns])), None, tense)


# Sentences whose pronoun only meaning resolves: two nouns, one verb, and the adjective that decides.

Role = Literal["subject", "object"]
OTHER: dict[Role, Role] = {"subject": "object", "object": "subject"}

LINKS = {
    "because": phrase("because", "parce que"),
    "as": phrase("as", "comme"),
    "but": phrase("but", "mais"),
    "even though": phrase("even though", "même si"),
    "so that": phrase("so that", "afin que"),
}
COMMA = phrase(",", ",")


@dataclass(frozen=True)
class Reason:
    """Everything there is to say; `render` says it. In "so that" sentences an `actor` acts for it."""

    frame: Frame
    verb: Verb
    subject: NounPhrase
    object: NounPhrase
    antecedent: Role
    adjective: Adjective
    link: str
    link_first: bool = False
    tense: Tense = "past"
    polarity: Polarity = "not"
    modality: Modality = "do"
    degree: Degree = "too"
    question: bool = False
    front: Both = NOTHING
    end: Both = NOTHING
    actor: NounPhrase | Pronoun | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What the held-out split is made on: the two nouns that "it" could mean."""
        return self.subject.noun.english, self.object.noun.english

    @property
    def pattern(self) -> str:
        order = ", first" if self.link_first else ""
        return f"{self.link}{order}, question" if self.question else self.link + order

    def pronoun(self) -> Pronoun:
        return (self.subject if self.antecedent == "subject" else self.object).pronoun()

    def render(self) -> Both:
        if self.actor:
            return self._render_purpose(self.actor)
        action = Action(self.verb, self.tense, self.polarity, self.modality)
        main = join(self.front, act(self.subject, action, self.object, question=self.question), self.end)
        why = be(self.pronoun(), State(self.adjective, self.tense, degree=self.degree), tag="pronoun")
        why = join(LINKS[self.link], why)
        return join(why, COMMA, main) if self.link_first else join(main, why)

    def _render_purpose(self, actor: NounPhrase | Pronoun) -> Both:
        main = act(actor, Action(self.verb, "past"), self.object)
        beneficiary = join(
            phrase("for", "pour"), Both(self.subject.english("subject"), self.subject.french("subject"))
        )
        main = Both([_untag_subject(w) for w in main.english], [_untag_subject(w) for w in main.french])
        who = self.pronoun()
        french_be = "soient" if who.plural else "soit"
        be_so = State(self.adjective)
        english = [*who.english("pronoun"), *words("would be"), *be_so.english_complement(who.plural)]
        french = [*who.french("pronoun"), Word(french_be), *be_so.french_complement(who.gender, who.plural)]
        hope = join(LINKS["so that"], Both(english, french))
        if self.link_first:
            return join(self.front, beneficiary, COMMA, main, hope)
        return join(self.front, main, beneficiary, hope)

    def flipped(self) -> Reason | None:
        """The same words but for the deciding adjective, so that the pronoun means the other noun.

        None where the English pronoun would change too (he and it, it and they): it alone decides there.
        """
        role = OTHER[self.antecedent]
        candidates = self.frame.subject_adjectives if role == "subject" else self.frame.object_adjectives
        index = sum(map(ord, "".join(self.key) + self.adjective.english)) % len(candidates)
        other = replace(self, antecedent=role, adjective=candidates[index])
        return other if other.pronoun().english_word == self.pronoun().english_word else None


def _untag_subject(word: Word) -> Word:
    return Word(word.text) if word.tag == "subject" else word


def sample_reason(rng: random.Random) -> Reason:
    """One random recipe; both antecedents are equally likely, and only the adjective tells which it is."""
    mood = rng.choices(("refusal", "event", "purpose"), (78, 12, 10))[0]
    if mood == "purpose":
        return _sample_purpose(rng)
    frame = rng.choice(FRAMES_OF[mood])
    subject, thing, antecedent, adjective = _sample_roles(rng, frame)
    tense: Tense = rng.choices(("past", "present"), (75, 25))[0]
    recipe = Reason(
        frame, rng.choice(frame.verbs), subject, thing, antecedent, adjective, "because", tense=tense
    )
    recipe = _with_link(rng, recipe, mood)
    return _with_fillers(rng, recipe)


def _sample_roles(rng: random.Random, frame: Frame) -> tuple[NounPhrase, NounPhrase, Role, Adjective]:
    subject = rng.choice(frame.subjects)
    thing = rng.choice([noun for noun in frame.objects if noun != subject])
    plural = rng.random() < (0.6 if subject.is_person else 0.3)
    thing_plural = plural if rng.random() < 0.85 else not plural
    antecedent: Role = rng.choice(("subject", "object"))
    adjective = rng.choice(frame.subject_adjectives if antecedent == "subject" else frame.object_adjectives)
    deciding = {*frame.subject_adjectives, *frame.object_adjectives}
    who = _definite(rng, subject, plural, deciding)
    return who, _definite(rng, thing, thing_plural, deciding), antecedent, adjective


def _definite(rng: random.Random, noun: Noun, plural: bool, deciding: set[Adjective]) -> NounPhrase:
    determiner = rng.choices(("the", "this", "my", "our"), (76, 10, 7, 7))[0]
    if determiner in ("my", "our") and not noun.kinds & ADDITIONS.owned:
        determiner = "the"
    if determiner == "this" and plural:
        determiner = "these"
    adjective = filler_adjective(rng, noun, deciding) if rng.random() < 0.25 else None
    return NounPhrase(noun, plural, determiner, adjective)


def _with_link(rng: random.Random, recipe: Reason, mood: str) -> Reason:
    degrees: tuple[Degree, ...] = ("too", "very", "")
    recipe = replace(recipe, degree=rng.choices(degrees, (70, 20, 10))[0])
    alive = bool(recipe.subject.noun.kinds & {"animal", "person"})
    style = rng.choices(("because", "as", "even though", "but", "question"), (52, 10, 14, 14, 10))[0]
    if mood == "event":
        link, first = rng.choice((("because", False), ("because", True), ("as", True)))
        return replace(recipe, link=link, link_first=first, polarity="yes", degree=rng.choice(degrees[1:]))
    if style == "even though":
        first = rng.random() < 0.3
        return replace(recipe, link=style, link_first=first, polarity="yes", degree=rng.choice(degrees[1:]))
    if style == "but" and alive:
        return replace(recipe, link=style, modality="want", polarity="yes")
    if style == "question":
        return replace(recipe, question=True)
    refusals: tuple[tuple[Polarity, Modality], ...] = (("not", "do"), ("not", "can"), ("never", "do"))
    polarity, modality = rng.choices(refusals, (70, 18, 12))[0]
    first = style == "as" or rng.random() < 0.25
    link = "as" if style == "as" else "because"
    return replace(recipe, link=link, link_first=first, polarity=polarity, modality=modality)


_SPATIAL = {"path", "water", "land", "building", "height", "holder"}


def _with_fillers(rng: random.Random, recipe: Reason) -> Reason:
    """Adds times, places and which-clauses to either noun, so that nothing keeps its place."""
    if recipe.question:
        return recipe
    where = rng.random()
    if where < 0.14:
        recipe = replace(recipe, front=time_phrase(rng, recipe.tense))
    elif where < 0.26:
        recipe = replace(recipe, end=time_phrase(rng, recipe.tense))
    elif where < 0.36 and not recipe.object.noun.kinds & _SPATIAL:
        recipe = replace(recipe, end=place_phrase(rng))
    if rng.random() < 0.16:
        role = "subject" if recipe.end.english else rng.choice(("subject", "object"))
        noun_phrase = recipe.subject if role == "subject" else recipe.object
        # a person in the which-clause would be a second candidate for "he" or "she"
        persons = recipe.pronoun().english_word in ("it", "they")
        clause = relative(rng, recipe.tense, {recipe.object.noun, recipe.subject.noun}, persons)
        recipe = replace(recipe, **{role: replace(noun_phrase, relative=clause)})  # type: ignore[arg-type]
    return recipe


def _sample_purpose(rng: random.Random) -> Reason:
    """someone cleans the basket for the cat so that it would be happy / clean"""
    frame = rng.choice(FRAMES_OF["purpose"])
    subject, thing, antecedent, adjective = _sample_roles(rng, frame)
    if subject.noun.is_person and not subject.plural:
        # a singular person is never "it", and could be confused with the one who acts
        determiner = "these" if subject.determiner == "this" else subject.determiner
        subject = replace(subject, plural=True, determiner=determiner)
    actors: list[NounPhrase | Pronoun] = [Pronoun("i", "je", 0), Pronoun("we", "nous", 2)]
    actors += [NounPhrase(noun) for noun in nouns_of("person") if noun != subject.noun]
    verb, first = rng.choice(frame.verbs), rng.random() < 0.35
    front = time_phrase(rng, "past") if rng.random() < 0.15 else NOTHING
    recipe = Reason(frame, verb, subject, thing, antecedent, adjective, "so that", first, front=front)
    return replace(recipe, polarity="yes", degree="", actor=rng.choice(actors))


# Sentences without a pronoun to resolve: statements, questions, states, professions, which-clauses.

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
_FRENCH_ONLY = (Pronoun("i", "je", 0, "f"), Pronoun("we", "nous", 2, "f"), Pronoun("they", "elles", 4, "f"))
_SPEAKERS = (JE, JE, JE, YOU, WE, HE, SHE, THEY, *_FRENCH_ONLY)

_ONE_FORM_VERBS = {VERBS["read"], VERBS["fit"]}  # English "read" is past and present: only a context tells
_MANNERS = _phrases(ADDITIONS.manners)
_SINGULAR, _SINGULAR_WEIGHTS = ("the", "a", "this", "my", "our", "every"), (45, 22, 10, 10, 7, 6)
_PLURAL = ("the", "these", "my", "our", "two", "three", "many", "some")
_PLURAL_WEIGHTS = (32, 10, 8, 6, 12, 10, 10, 12)
_PEOPLE_STATES = adjectives_of(ADDITIONS.people_adjectives)


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


def _any_state(rng: random.Random, what: Adjective) -> State:
    tense = _tense(rng)
    polarity: Polarity = rng.choices(("yes", "not"), (75, 25))[0]
    return State(what, tense, polarity, rng.choice(("", "very", "too")))


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
    sometimes = polarity == "yes" and not question and rng.random() < 0.15
    adverb = rng.choice(ADDITIONS.adverbs) if sometimes else None
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
        asked = (("", ""), ("why", "pourquoi"), ("where", "où"), ("when", "quand"))
        return Simple(join(phrase(*rng.choice(asked)), clause), key, "question", True)
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
    frame = rng.choice((*_WILFUL_FRAMES, *FRAMES_OF["purpose"]))
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
    subject: NounPhrase | Pronoun = _noun_phrase(rng, rng.choice(nouns_of("animal", "person")))
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


def _state(rng: random.Random) -> Simple:
    frame = rng.choice(FRAMES)
    of_subject = rng.random() < 0.5  # only adjectives that make sense for a noun are said of it
    noun = rng.choice(frame.subjects if of_subject else frame.objects)
    adjective = rng.choice(frame.subject_adjectives if of_subject else frame.object_adjectives)
    subject = _noun_phrase(rng, noun, adjective=0.25)
    if subject.adjective == adjective:
        subject = NounPhrase(noun, subject.plural, subject.determiner)
    state = _any_state(rng, adjective)
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
    state = _any_state(rng, adjective)
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


_OCCUPATIONS = {"waitress", "actress", "worker", "tourist"}.union(each.english for each in PROFESSIONS)


def _presence(rng: random.Random) -> Simple:
    """there is a cat near the church / where is the cat"""
    noun = rng.choice(nouns_of("animal", "person", "load", "vehicle"))
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


_KINDS_OF_SENTENCE: dict[Callable[[random.Random], Simple], int] = {
    **{_transitive: 36, _state: 20, _profession: 10, _personal_state: 8, _intransitive: 9},
    **{_modal: 7, _presence: 6, _together: 4, _two_states: 4, _fragment: 5},
}


def sample_simple(rng: random.Random) -> Simple:
    make = rng.choices(list(_KINDS_OF_SENTENCE), list(_KINDS_OF_SENTENCE.values()))[0]
    return make(rng)
