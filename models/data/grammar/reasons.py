"""Sentences whose pronoun only meaning resolves: two nouns, one verb, and the adjective that decides."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Literal

from models.data.grammar.clauses import NOTHING, Action, Both, Degree, Modality, State, act, be, join, phrase
from models.data.grammar.fillers import filler_adjective, place_phrase, relative, time_phrase
from models.data.grammar.frames import EVENTS, PURPOSES, REFUSALS, Frame, nouns_of
from models.data.grammar.lexemes import Adjective, Noun, Verb
from models.data.grammar.morphology import Polarity, Tense, Word
from models.data.grammar.phrases import NounPhrase, Pronoun

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
        hope = Both(
            [*who.english("pronoun"), Word("would"), Word("be"), *be_so.english_complement(who.plural)],
            [*who.french("pronoun"), Word(french_be), *be_so.french_complement(who.gender, who.plural)],
        )
        hope = join(LINKS["so that"], hope)
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
    frame = rng.choice(REFUSALS if mood == "refusal" else EVENTS)
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
    taken = {*frame.subject_adjectives, *frame.object_adjectives}
    return (
        _definite(rng, subject, plural, taken),
        _definite(rng, thing, thing_plural, taken),
        antecedent,
        adjective,
    )


_OWNED = set(
    [
        "pet",
        "own",
        "food",
        "load",
        "vehicle",
        "text",
        "good",
        "opening",
        "machine",
        "building",
        "gear",
        "bulky",
        "breakable",
    ]
)


def _definite(rng: random.Random, noun: Noun, plural: bool, taken: set[Adjective]) -> NounPhrase:
    determiner = rng.choices(("the", "this", "my", "our"), (76, 10, 7, 7))[0]
    if determiner in ("my", "our") and not noun.kinds & _OWNED:
        determiner = "the"
    if determiner == "this" and plural:
        determiner = "these"
    adjective = filler_adjective(rng, noun, taken) if rng.random() < 0.25 else None
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
    ways: tuple[tuple[Polarity, Modality], ...] = (("not", "do"), ("not", "can"), ("never", "do"))
    polarity, modality = rng.choices(ways, (70, 18, 12))[0]
    first = style == "as" or rng.random() < 0.25
    return replace(
        recipe,
        link="as" if style == "as" else "because",
        link_first=first,
        polarity=polarity,
        modality=modality,
    )


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
    frame = rng.choice(PURPOSES)
    subject, thing, antecedent, adjective = _sample_roles(rng, frame)
    if subject.noun.is_person and not subject.plural:
        # a singular person is never "it", and could be confused with the one who acts
        subject = replace(
            subject, plural=True, determiner={"this": "these"}.get(subject.determiner, subject.determiner)
        )
    actors: list[NounPhrase | Pronoun] = [Pronoun("i", "je", 0), Pronoun("we", "nous", 2)]
    actors += [NounPhrase(noun) for noun in nouns_of("person") if noun != subject.noun]
    return Reason(
        frame,
        rng.choice(frame.verbs),
        subject,
        thing,
        antecedent,
        adjective,
        "so that",
        link_first=rng.random() < 0.35,
        polarity="yes",
        degree="",
        front=time_phrase(rng, "past") if rng.random() < 0.15 else NOTHING,
        actor=rng.choice(actors),
    )
