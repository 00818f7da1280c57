"""Say whether the verb that comes next is singular or plural, whatever nouns stand before it."""

import random
from dataclasses import dataclass
from functools import cached_property

import torch

from models.data.agreement import sample_beginning, vocabulary
from models.data.learnt_tokenizer import LearntTokenizer
from models.data.tasks.algorithmic import random_of
from models.data.tasks.batch import Rarity
from models.data.tasks.options import option
from models.data.tasks.text_classes import STRANGE, Labelled, TextClasses, of_words

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
    see = (
        "The answer is read at [CLS]. Watch how it finds the subject among the nouns, and whether "
        "prepositions and “that” tell the other nouns that they do not count."
    )
    sizes = {"n_layers": 6, "n_heads": 4, "d_model": 64, "d_ff": 128, "positions": "rotary"}
    training = {
        "steps": 1500,
        "batch_size": 64,
        "learning_rate": 1e-3,
        "warmup_steps": 200,
    }
    hidden: int = option(10, "words, of a hundred, that training makes unknown", low=0, high=50)

    @cached_property
    def tokenizer(self) -> LearntTokenizer:
        return of_words(vocabulary())

    @cached_property
    def classes(self) -> tuple[str, ...]:
        return _CLASSES

    def labelled(self, generator: torch.Generator, size: int, *, held_out: bool) -> Labelled:
        """Those are marked whose nearest noun, or all whose other nouns, have the other number.

        Words of training are made unknown, so that the model can be asked what it would say without one.
        """
        rng = random_of(generator)
        drawn = [sample_beginning(rng, held_out=held_out) for _ in range(size)]
        texts = [each.text if held_out else self._with_holes(rng, each.text) for each in drawn]
        marks = {
            "nearest noun of the other number": [each.attracted for each in drawn],
            "all other nouns of the other number": [each.opposed for each in drawn],
        }
        return Labelled(texts, [int(each.plural) for each in drawn], marks)

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
    def _shown(self) -> str:
        return _PROBE
