"""Annotates the grammar's sentences: which word depends on which, and which French word translates it.

As Och & Ney (2003) have it, a link is sure where two words mean the same (dog, chien), and possible where one
only helps to say the other (did, or the a of "a traversé"). Each word has meanings, some by the words around
it. The first English word of a meaning belongs to the first French one, the second to the second: clauses
have the same order in both languages.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ...files import read_toml
from .clauses import french_adjective, french_be, participle
from .lexicon import ADJECTIVES, DETERMINERS, INTRANSITIVES, NOUNS, PROFESSIONS, VERBS, with_s
from .pairs import Pair

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
_DETERMINERS = frozenset(DETERMINERS) | {"an"}
NOUN_FORMS = {
    form for noun in (*NOUNS.values(), *PROFESSIONS) for form in (noun.english, noun.english_plural)
}


def nouns_of(words: Sequence[str]) -> list[int]:
    """Where the nouns of the grammar stand in an English text."""
    return [at for at, word in enumerate(words) if word in NOUN_FORMS]


_WITH_OBJECT = {
    form
    for verb in VERBS.values()
    if not verb.english_preposition
    for form in (verb.english, verb.english_past, with_s(verb.english))
}
"""The forms of verbs that take an object without a preposition."""


class Dependency(NamedTuple):
    """A word that depends on another, both by their places from 0."""

    relation: str
    dependent: int
    head: int


def dependencies(pair: Pair) -> list[Dependency]:
    """Those of `RELATIONS` that hold in the pair's English sentence."""
    relations = sorted(_of_nouns(pair.english))
    if mention := pair.english_mention:
        relations.append(Dependency("coref", mention.pronoun, mention.antecedent))
    return relations


def _of_nouns(words: Sequence[str]) -> Iterator[Dependency]:
    """Of every noun that comes after a determiner, with or without adjectives between."""
    for at, word in enumerate(words):
        if word not in _DETERMINERS:
            continue
        noun = at + 1
        while noun < len(words) and words[noun] in ADJECTIVES:
            noun += 1
        if noun == len(words) or words[noun] not in NOUN_FORMS:
            continue
        yield Dependency("poss" if word in _POSSESSIVES else "det", at, noun)
        before, second = words[at - 1] if at else "", words[at - 2] if at > 1 else ""
        # a word that is a verb and a noun, such as watch, is a noun after these
        if before in _PREPOSITIONS:
            yield Dependency("pobj", noun, at - 1)
        elif before in _WITH_OBJECT and second not in _DETERMINERS and second not in ADJECTIVES:
            yield Dependency("dobj", noun, at - 1)


Lexicon = dict[str, set[str]]
POSSIBLE = "~"
"""How a meaning begins by which words are linked as possible only."""
_ARTICLES = {"le", "la", "l'", "les", "du", "des", "de", "d'", "cet", "mon", "tous", "beaucoup"}.union(
    *(" ".join(forms).split() for forms in DETERMINERS.values())
)
HAVE = {"ai", "a", "avons", "avez", "ont"}
BE = {french_be("present", person) for person in range(5)}
BEFORE_QUE = {"parce": "because2", "afin": "so2", "est-ce": "~asked2"}
WITHIN = 4
"""Words after "a" or "est" among which its participle stands."""


@dataclass(frozen=True)
class _Meanings:
    """What other words than nouns, adjectives and verbs mean; and nouns that say when, with their French."""

    english: dict[str, frozenset[str]]
    french: dict[str, frozenset[str]]
    times: dict[str, tuple[str, ...]]


_MEANINGS = read_toml(Path(__file__).with_name("word_links.toml"), _Meanings)


class Link(NamedTuple):
    """Positions of an English and a French word that belong together."""

    english: int
    french: int
    sure: bool


def word_links(english: Sequence[str], french: Sequence[str]) -> list[Link]:
    """The links between a sentence of the grammar and its translation, each as the grammar writes words.

    Words that the grammar does not know have none, nor have those without a counterpart.
    """
    of_english, of_french = _places(_of_english(english)), _places(_of_french(french))
    links: dict[tuple[int, int], bool] = {}
    for meaning in of_english.keys() & of_french.keys():
        sure = not meaning.startswith(POSSIBLE)
        for pair in zip(of_english[meaning], of_french[meaning], strict=False):
            links[pair] = links.get(pair, False) or sure
    return [Link(*pair, sure) for pair, sure in sorted(links.items())]


def _places(meanings: Iterable[set[str]]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for at, of_word in enumerate(meanings):
        for meaning in of_word:
            places[meaning].append(at)
    return places


def _of_english(words: Sequence[str]) -> Iterator[set[str]]:
    known = _english()
    for at, word in enumerate(words):
        rest, before = list(words[at + 1 :]), words[at - 1] if at else ""
        meanings = known.get(word, set())
        if word in DETERMINERS or word == "an":
            yield _articles(rest, known) | ({"~many"} if word == "many" else set())
        elif "~asked" in meanings:
            yield meanings | {f"~finite:{verb}" for verb in _next(rest, known, "verb:")}
        elif before == "there" and "be" in meanings:
            yield {"~has"}
        elif word == "in" and rest[:1] == ["front"]:
            yield {"~front"}
        else:
            yield meanings


def _of_french(words: Sequence[str]) -> Iterator[set[str]]:
    known = _french()
    for at, word in enumerate(words):
        rest, before = list(words[at + 1 :]), words[at - 1] if at else ""
        helped = _next(rest[:WITHIN], known, "past:" if word in HAVE else "gone:")
        if word in HAVE | BE and helped:
            yield {f"~finite:{verb}" for verb in helped}
        elif word == "a" and before == "y":
            yield {"~has"}
        elif word in BE:
            yield {"be"}
        elif word == "il" and rest[:1] == ["y"]:
            yield {"~there"}
        elif word in ("que", "qu'"):
            yield {BEFORE_QUE.get(before, "which")}
        elif word in ("de", "d'") and before == "beaucoup":
            yield {"~many"}
        elif word in _ARTICLES:
            yield _articles(rest, known) | ({"~near"} if before == "près" else set())
        elif word == "dans" and (into := {m for m in known.get(before, set()) if m.startswith("into:")}):
            yield {POSSIBLE + meaning for meaning in into}
        else:
            yield known.get(word, set())


def lexicon() -> dict[str, Any]:
    """All that `word_links` goes by, as JSON values, for who computes the same elsewhere."""
    words = {"english": _english(), "french": _french()}
    return {
        **{name: {word: sorted(of) for word, of in known.items()} for name, known in words.items()},
        "determiners": list(DETERMINERS),
        "articles": sorted(_ARTICLES),
        "have": sorted(HAVE),
        "be": sorted(BE),
        "beforeQue": BEFORE_QUE,
        "within": WITHIN,
    }


def _articles(rest: Sequence[str], known: Lexicon) -> set[str]:
    """An article belongs to the article of the same noun."""
    return {f"the:{noun}" for noun in _next(rest, known, "noun:")}


def _next(rest: Sequence[str], known: Lexicon, kind: str) -> set[str]:
    """What the first word that has meanings of a kind may mean, of that kind."""
    for word in rest:
        meanings = {meaning.removeprefix(kind) for meaning in known.get(word, ()) if meaning.startswith(kind)}
        if meanings:
            return meanings
    return set()


@cache
def _english() -> Lexicon:
    known = defaultdict(set, {word: set(meanings) for word, meanings in _MEANINGS.english.items()})
    for noun in (*NOUNS.values(), *PROFESSIONS):
        for form in (noun.english, noun.english_plural):
            known[form].add(f"noun:{noun.english}")
    for time in _MEANINGS.times:
        known[time].add(f"noun:{time}")
    for adjective in ADJECTIVES.values():
        known[adjective.english].add(f"adjective:{adjective.masculine}")
    for name, verb in (VERBS | INTRANSITIVES).items():
        for form in (verb.english, verb.english_past, with_s(verb.english)):
            known[form] |= {f"verb:{name}", f"~finite:{name}", f"~into:{name}"}
    return known


@cache
def _french() -> Lexicon:
    known = defaultdict(set, {word: set(meanings) for word, meanings in _MEANINGS.french.items()})
    for noun in (*NOUNS.values(), *PROFESSIONS):
        plurals = {form + "s" for form in (noun.french, noun.french_plural) if noun in PROFESSIONS}
        for form in {noun.french, noun.french_plural, *plurals}:
            known[form].add(f"noun:{noun.english}")
    for time, forms in _MEANINGS.times.items():
        for form in forms:
            known[form].add(f"noun:{time}")
    for adjective in ADJECTIVES.values():
        agreed = {french_adjective(adjective, gender, plural) for gender in "mf" for plural in (True, False)}
        for form in agreed | {adjective.euphonic or adjective.masculine}:
            known[form].add(f"adjective:{adjective.masculine}")
    for name, verb in (VERBS | INTRANSITIVES).items():
        into = {f"into:{name}"} if verb.french_preposition and not verb.english_preposition else set()
        known[verb.infinitive] |= {f"verb:{name}"} | into
        for form in (*verb.present, *(verb.imperfect or ())):
            known[form] |= {f"verb:{name}", f"~finite:{name}"} | into
        pattern = f"{'past' if verb.auxiliary == 'avoir' else 'gone'}:{name}"
        for form in {participle(verb, gender, plural) for gender in "mf" for plural in (True, False)}:
            known[form] |= {f"verb:{name}", pattern} | into
    return known
