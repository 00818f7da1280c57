"""Defines the number of a verb: is the next verb singular or plural, whatever nouns stand before it?"""

import random
from dataclasses import dataclass
from functools import cache, cached_property

import torch

from .. import one_in
from ..grammar.lexicon import NOUNS, with_s
from ..learnt_tokenizer import LearntTokenizer
from .algorithmic import random_of
from .batch import Rarity
from .task import option
from .text_classes import STRANGE, Labelled, TextClasses, of_words

_words = str.split
_SALT = "agreement"
_HELD_OUT_SHARE = 10  # one pair of subject and attractor in ten
_MOST_NOUNS = 3  # that may stand between subject and verb
NOUN_FORMS = (
    *((noun.english, noun.english_plural) for noun in NOUNS.values()),
    *((word, with_s(word)) for word in ("key", "cabinet")),
)
"""Singular and plural."""
_DETERMINERS = _words("the the the the my our her his their")  # none tells a number
_ADJECTIVES = _words("old new small big red blue green dirty clean famous strange good beautiful")
_PLACES = _words("near behind beside in from by with to under of")
_VERBS = _words("saw found watched liked washed painted lost described followed admired")  # past: no number
_BEFORE_VERB = _words("often never always really certainly probably")
_FIRST = _words("yesterday today sometimes")


@dataclass(frozen=True)
class Beginning:
    """Words between spaces, up to the verb. plural: of the subject. others: of the other nouns, in order."""

    text: str
    subject: str
    plural: bool
    others: tuple[bool, ...]

    @property
    def attracted(self) -> bool:
        """Whether the noun nearest to the verb has the other number than the subject."""
        return bool(self.others) and self.others[-1] != self.plural

    @property
    def opposed(self) -> bool:
        """Whether there are other nouns, and all of them have the other number than the subject."""
        return bool(self.others) and all(other != self.plural for other in self.others)


def is_held_out(subject: str, other: str) -> bool:
    """True for one pair of nouns in ten, the same ones everywhere: in training, no subject stands before
    the verb with such a noun nearest to it.
    """
    return one_in(_HELD_OUT_SHARE, _SALT, subject, other)


def sample_beginning(rng: random.Random, *, held_out: bool = False) -> Beginning:
    """A beginning, as often singular as plural; each other noun is of either number, whatever the subject's.

    In a held-out one the pair of the subject and the noun nearest to the verb is a held-out one; one that
    has no other noun is of training.
    """
    while True:
        beginning, nearest = _any_beginning(rng)
        if is_held_out(beginning.subject, nearest) == held_out if nearest else not held_out:
            return beginning


@cache
def vocabulary() -> tuple[str, ...]:
    """Every word that a beginning can have, sorted."""
    nouns = {form for forms in NOUN_FORMS for form in forms}
    others = (_DETERMINERS, _ADJECTIVES, _PLACES, _VERBS, _BEFORE_VERB, _FIRST, ("that", ","))
    return tuple(sorted(nouns.union(*others)))


def _any_beginning(rng: random.Random) -> tuple[Beginning, str]:
    """Any beginning, and the noun of it that is nearest to the verb and not its subject, or ""."""
    words, others, nearest = _first(rng)
    subject, plural = rng.choice(NOUN_FORMS), rng.random() < 0.5
    words += _phrase(rng, subject[plural])
    for _ in range(rng.choices(range(_MOST_NOUNS + 1), (2, 4, 3, 1))[0]):
        noun, many = rng.choice(NOUN_FORMS), rng.random() < 0.5
        words += _attached(rng, _phrase(rng, noun[many]))
        others, nearest = [*others, many], noun[0]
    if rng.random() < 0.25:
        words.append(rng.choice(_BEFORE_VERB))
    return Beginning(" ".join(words), subject[0], plural, tuple(others)), nearest


def _first(rng: random.Random) -> tuple[list[str], list[bool], str]:
    """What may stand before the subject: nothing, a time, or a place with a noun of its own."""
    chance = rng.random()
    if chance < 0.7:
        return [], [], ""
    if chance < 0.8:
        return [rng.choice(_FIRST), ","], [], ""
    noun, many = rng.choice(NOUN_FORMS), rng.random() < 0.5
    return [rng.choice(_PLACES), *_phrase(rng, noun[many]), ","], [many], noun[0]


def _attached(rng: random.Random, phrase: list[str]) -> list[str]:
    """A noun that hangs on what stands before it: by a place, or by a clause in the past, of no number."""
    chance = rng.random()
    if chance < 0.7:
        return [rng.choice(_PLACES), *phrase]
    verb = rng.choice(_VERBS)
    return ["that", verb, *phrase] if chance < 0.85 else ["that", *phrase, verb]


def _phrase(rng: random.Random, noun: str) -> list[str]:
    described = [rng.choice(_ADJECTIVES)] if rng.random() < 0.2 else []
    return [rng.choice(_DETERMINERS), *described, noun]


_COUNTED = 2_000
_CLASSES = ("singular", "plural")
_PROBE = "the keys to the old cabinet near my door"


@dataclass(frozen=True, kw_only=True)
class VerbNumber(TextClasses):
    """Given a sentence up to its verb, the model says which number the verb has (Linzen et al. 2016).

    "The keys to the cabinet ..." goes on with "are", not with "is": the number is that of the subject, and
    the nouns that stand between, of either number, do not count.
    """

    name = "verb-number"
    title = "Number of a verb"
    see = "[CLS] answers. Watch how it finds the subject among the nouns."
    sizes = {"n_layers": 6, "n_heads": 4, "d_model": 64, "d_ff": 128, "positions": "rotary"}
    training = {"steps": 1500, "batch_size": 64, "learning_rate": 1e-3, "warmup_steps": 200}
    hidden: int = option(10, "words, of a hundred, that training makes unknown", low=0, high=50)

    @cached_property
    def tokenizer(self) -> LearntTokenizer:
        return of_words(vocabulary())

    @cached_property
    def classes(self) -> tuple[str, ...]:
        return _CLASSES

    def draw_labelled(self, generator: torch.Generator, size: int, *, held_out: bool) -> Labelled:
        """Those are marked whose nearest noun, or all whose other nouns, have the other number.

        Words of training are made unknown, so that the model can be asked what it would say without one.
        """
        rng = random_of(generator)
        beginnings = [sample_beginning(rng, held_out=held_out) for _ in range(size)]
        texts = [each.text if held_out else self._with_holes(rng, each.text) for each in beginnings]
        marks = {
            "nearest noun of the other number": [each.attracted for each in beginnings],
            "all other nouns of the other number": [each.opposed for each in beginnings],
        }
        return Labelled(texts, [int(each.plural) for each in beginnings], marks)

    def _with_holes(self, rng: random.Random, text: str) -> str:
        words = text.split()
        return " ".join(STRANGE if rng.random() < self.hidden / 100 else word for word in words)

    def rarity(self) -> Rarity:
        return self._rarity

    @cached_property
    def _rarity(self) -> Rarity:
        rng = random.Random(0)
        texts = (sample_beginning(rng).text for _ in range(_COUNTED))
        return self.counted(texts, f"{_COUNTED:,} beginnings like those of its training")

    @cached_property
    def _probe_text(self) -> str:
        return _PROBE
