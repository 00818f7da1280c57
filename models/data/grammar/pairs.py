"""Draws seeded English-French sentence pairs and holds some of them out; keeps their vocabulary and counts.

A held-out pair of nouns is never trained. Of the pairs are made a vocabulary, held-out tests, and one endless
text for language models.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from .. import one_in
from ..word_tokenizer import EOS, SPECIALS
from .clauses import Both, NounPhrase, Word, join, phrase, sentence
from .lexicon import ADJECTIVES, FRAMES, NOUNS, VERBS
from .sentences import BOTH_WAYS, Direction, Reason, Role, Simple, sample_reason, sample_simple

Split = Literal["training", "held out"]

_SALT = "heads"  # one under which the page's first sentence (animal, street) is held out
_HELD_OUT_SHARE = 10  # one combination in ten


@dataclass(frozen=True)
class Mention:
    """Word positions (from 0) of a pronoun, the noun it means, and the noun it might mean."""

    pronoun: int
    antecedent: int
    rival: int


@dataclass(frozen=True)
class Pair:
    """One sentence in both languages, as words; `directions`: those in which its translation is certain."""

    english: tuple[str, ...]
    french: tuple[str, ...]
    pattern: str
    key: tuple[str, ...]
    english_mention: Mention | None = None
    french_mention: Mention | None = None
    directions: tuple[Direction, ...] = BOTH_WAYS
    recipe: Reason | None = None
    ending: str = ""
    casual: bool = False

    def source(self, direction: Direction) -> tuple[str, ...]:
        return self.english if direction == "en-fr" else self.french

    def target(self, direction: Direction) -> tuple[str, ...]:
        return self.french if direction == "en-fr" else self.english

    def mention(self, direction: Direction) -> Mention | None:
        """Where the source's pronoun is, if it has one."""
        return self.english_mention if direction == "en-fr" else self.french_mention


def is_held_out(key: tuple[str, ...]) -> bool:
    """True for one combination in ten, the same ones on every machine and in every run.

    The key of a pronoun sentence is its two nouns: they never meet in training, whatever verb or adjective.
    """
    return one_in(_HELD_OUT_SHARE, _SALT, *key)


def sample_pairs(seed: int, split: Split, *, pronouns: float = 0.6) -> Iterator[Pair]:
    """Endless pairs of one split, always the same for a seed; `pronouns`: the share with one to resolve."""
    rng = random.Random(seed)
    while True:
        draft = sample_reason(rng) if rng.random() < pronouns else sample_simple(rng)
        if is_held_out(draft.key) == (split == "held out"):
            # a full stop is optional, a question mark nearly always there; one in eight is casual
            endings, weights = (("?", ""), (90, 10)) if draft.question else ((".", ""), (25, 75))
            yield _pair(draft, ending=rng.choices(endings, weights)[0], casual=rng.random() < 0.12)


def showcase(adjective: str = "tired") -> Pair:
    """the animal did not cross the street because it was too tired; with "wide", "it" is the street."""
    animal, street = NounPhrase(NOUNS["animal"]), NounPhrase(NOUNS["street"])
    decides = ADJECTIVES[adjective]
    antecedent: Role = "subject" if decides in FRAMES[0].subject_adjectives else "object"
    recipe = Reason(FRAMES[0], VERBS["cross"], animal, street, antecedent, decides, "because")
    return _pair(recipe, ending="", casual=False)


def counterpart(pair: Pair) -> Pair | None:
    """The pair with a deciding adjective that makes its pronoun mean the other noun; None where none can."""
    flipped = pair.recipe.flipped() if pair.recipe else None
    return _pair(flipped, ending=pair.ending, casual=pair.casual) if flipped else None


def _pair(draft: Reason | Simple, *, ending: str, casual: bool) -> Pair:
    recipe = draft if isinstance(draft, Reason) else None
    both = draft.render() if isinstance(draft, Reason) else draft.both
    both = sentence(join(both, phrase(ending, ending)))
    directions: tuple[Direction, ...] = BOTH_WAYS if isinstance(draft, Reason) else draft.directions
    if casual and "en-fr" in directions:
        both = Both(_casual(both.english), both.french)
        directions = ("en-fr",)
    english, french = (tuple(word.text for word in words) for words in both)
    one, other = (_mention(words, recipe.antecedent if recipe else None) for words in both)
    return Pair(english, french, draft.pattern, draft.key, one, other, directions, recipe, ending, casual)


def _mention(words: list[Word], antecedent: str | None) -> Mention | None:
    if antecedent is None:
        return None
    at = {word.tag: index for index, word in enumerate(words) if word.tag}
    rival = "object" if antecedent == "subject" else "subject"
    return Mention(at["pronoun"], at[antecedent], at[rival])


_BEFORE_NOT = {"did", "does", "do", "was", "were", "is", "are", "could"}
_SHORT = {"am": "'m", "is": "'s", "are": "'re"}
_LONG = {("i", "am"), *((he, "is") for he in ("it", "he", "she", "there"))}
_LONG |= {(we, "are") for we in ("we", "you", "they")}


def _casual(words: list[Word]) -> list[Word]:
    """The words as people type them: didn't, can't, it's, and no comma."""
    result: list[Word] = []
    for word, following in zip(words, [*words[1:], Word("")], strict=True):
        last = result[-1] if result else Word("")
        if word.text == "not" and last.text in _BEFORE_NOT:
            result[-1] = Word(last.text + "n't", last.tag)
        elif (last.text, word.text) in _LONG and following.text != "not":
            result[-1] = Word(last.text + _SHORT[word.text], last.tag)
        elif word.text == "cannot":
            result.append(Word("can't", word.tag))
        elif word.text != ",":
            result.append(word)
    return result


SEPARATOR = SPECIALS[EOS]
_KEPT = Path(__file__).with_name("words.json")
_COUNTED = _KEPT.with_name("counts.json")
COUNTED_SENTENCES = 10_000


class Counts(NamedTuple):
    """How often each word occurs."""

    english: dict[str, int]
    french: dict[str, int]


class Vocabulary(NamedTuple):
    """`words` are all of them, by id, special words first; the other two say which language has which."""

    words: list[str]
    english: list[str]
    french: list[str]


@lru_cache(maxsize=1)
def kept_vocabulary() -> Vocabulary:
    """The words of the first training sentences, kept in a file, because finding them takes many seconds."""
    words = json.loads(_KEPT.read_text(encoding="utf-8"))
    return Vocabulary([*SPECIALS, *sorted({*words["en"], *words["fr"]})], words["en"], words["fr"])


@lru_cache(maxsize=1)
def kept_counts() -> Counts:
    """Counts in the first training sentences, kept in a file, because a page must not wait for them."""
    counts = json.loads(_COUNTED.read_text(encoding="utf-8"))
    return Counts(counts["en"], counts["fr"])


def held_out(count: int, seed: int = 1) -> list[tuple[Pair, Direction]]:
    """`count` different held-out sentences to translate, directions alternating where a pair has both."""
    chosen: dict[tuple[Direction, tuple[str, ...]], tuple[Pair, Direction]] = {}
    for pair in sample_pairs(seed, "held out"):
        direction = pair.directions[len(chosen) % len(pair.directions)]
        chosen.setdefault((direction, pair.source(direction)), (pair, direction))
        if len(chosen) == count:
            break
    return list(chosen.values())


def english_words(seed: int, split: Split) -> Iterator[str]:
    """Endless words, each sentence closed by <eos>; the same for a seed. `split` as in `sample_pairs`."""
    for pair in sample_pairs(seed, split):
        yield from pair.english
        yield SEPARATOR


def english_text(seed: int, split: Split, n_words: int) -> list[str]:
    """The first `n_words` of `english_words`."""
    return list(islice(english_words(seed, split), n_words))
