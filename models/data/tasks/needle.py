"""Defines the search for a needle in a haystack: a question about one fact hidden in a long text."""

import random
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch

from ...engine.transformer import Transformer
from .algorithmic import Answering, is_held_out
from .batch import Reading, Sample, check_room
from .task import option

BLANK, STOP, ASKED = "·", ".", "?"
NAMES = (
    *("ana", "ben", "carla", "david", "emma", "felix", "greta", "hugo"),
    *("ida", "jonas", "karla", "leo", "mara", "nils", "olga", "paul"),
)
NUMBERS = tuple(map(str, range(10, 60)))
FILLER = (
    *("grass", "green", "sky", "blue", "sun", "yellow", "here", "we", "go", "there", "and", "back"),
    *("again", "a", "long", "day", "by", "the", "river", "some", "rain", "fell", "on", "old"),
    *("trees", "birds", "sang", "in", "morning", "light", "while", "people", "walked", "home"),
)
_FACT = ("the", "code", "of", "{}")
_QUESTION = ("what", ASKED, *_FACT)
_WORDS = tuple(dict.fromkeys((BLANK, STOP, ASKED, "what", "the", "code", "of", *NAMES, *NUMBERS, *FILLER)))
_FEWEST = 8  # words of filler
_SHOWN = 64  # words of the text that is watched in training
_SAMPLES = 4


@dataclass(frozen=True)
class Haystack:
    """A text that ends in a question, the numbers that answer it, and where the first of them stands."""

    words: tuple[str, ...]
    answer: tuple[str, ...]
    place: int

    @property
    def text(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True, kw_only=True)
class Needle(Answering):
    """After `… the code of ana 17 42 30 . … what ? the code of ana` the model writes `17 42 30`.

    Every code is of other numbers, and only the answer is asked, so nothing but looking it up helps.
    """

    name = "needle"
    title = "Needle in a haystack"
    see = "From the last word on, heads fetch each number where it stands in the text, however far back."
    between = " "
    sizes = {"n_layers": 3, "n_heads": 4, "d_model": 64, "positions": "rotary", "tied_embeddings": False}
    training = {
        "steps": 3000,
        "batch_size": 32,
        "learning_rate": 3e-3,
        "decay": "all",
        "weight_decay": 0.5,  # with less, heads of the last layer fetch, too
        "warmup_steps": 50,
    }
    length: int = option(64, "words of a text with its answer, at most", low=32, high=256)
    facts: int = option(3, "codes in a text, of which one is asked", low=1, high=4)
    numbers: int = option(3, "numbers of a code", low=1, high=6)

    def __post_init__(self) -> None:
        super().__post_init__()
        least = self._shortest(self.facts)
        if least > self.length:
            raise ValueError(
                f"length={self.length} has no room for facts={self.facts} of numbers={self.numbers}; "
                f"try length={least}"
            )

    def required_sizes(self) -> dict[str, Any]:
        """Blanks come last, so nobody sees them: no pad_id."""
        return {"vocab_size": len(_WORDS), "max_len": self.length, "pad_id": None}

    def outputs(self) -> tuple[str, ...]:
        return _WORDS

    def haystack(
        self, rng: random.Random, length: int = 0, facts: int = 0, depth: float | None = None
    ) -> Haystack:
        """A text of so many words with its answer, and so many facts; 0 for as many as there may be.

        depth: where the fact that is asked stands among the filler, 0 in front and 1 at the end; None for
        anywhere.
        """
        n_facts = facts or self.facts
        names = rng.sample(NAMES, n_facts)
        numbers = rng.sample(NUMBERS, n_facts * self.numbers)
        codes = [tuple(numbers[at * self.numbers :][: self.numbers]) for at in range(n_facts)]
        n_filler = (length or self.length) - self._shortest(n_facts) + _FEWEST
        slots = [rng.randint(0, n_filler) for _ in codes]
        if depth is not None:
            slots[0] = round(depth * n_filler)
        filler = [[rng.choice(FILLER)] for _ in range(n_filler)]
        facts_in_words = [
            [word.format(name) for word in _FACT] + [*code, STOP]
            for name, code in zip(names, codes, strict=True)
        ]
        for at in sorted(range(n_facts), key=lambda at: slots[at], reverse=True):
            filler.insert(slots[at], facts_in_words[at])
        words = [word for piece in filler for word in piece]
        place = words.index(codes[0][0])
        return Haystack((*words, *(word.format(names[0]) for word in _QUESTION)), codes[0], place)

    def example(self, rng: random.Random, held_out: bool) -> tuple[str, list[int], int]:
        """In training, of any length and number of facts, as few are easier to learn."""
        facts = self.facts if held_out else rng.randint(1, self.facts)
        haystack = self.haystack(rng, rng.randint(self._shortest(facts), self.length), facts)
        return haystack.text, self.ids_of((*haystack.words, *haystack.answer)), len(haystack.words) - 1

    def probe(self) -> Reading:
        """A held-out text with its answer; its text is what one types to have it answered."""
        haystack = self._held_out(1, max(self._shortest(self.facts), min(_SHOWN, self.length)))[0]
        return replace(self.with_answer([*haystack.words], [*haystack.answer]), text=haystack.text)

    def read(self, text: str) -> Reading:
        """Words of the task; what follows the question is its answer as far as it is given."""
        words = text.lower().replace(STOP, f" {STOP} ").replace(ASKED, f" {ASKED} ").split()
        ids = self.ids_of(words)
        question, begun = self.parts_of(" ".join(words))
        *before, name = question[-len(_FACT) :] or [""]
        if ASKED not in words or name not in NAMES or tuple(before) != _FACT[:-1]:
            raise ValueError(f"the text asks for no code; end it with {' '.join(_QUESTION).format('ana')!r}")
        if len(begun) > self.numbers:
            raise ValueError(f"the answer has {len(begun)} words; give at most {self.numbers}")
        check_room(len(question) + self.numbers, self.length, "words with the answer")
        return Reading((torch.tensor([ids]),), {"decoder": words}, " ".join(words))

    def strange(self, token: str) -> str:
        return f"{token[:40]!r} is no word of this task; try {self._samples[0].text[-60:]!r}"

    def parts_of(self, text: str) -> tuple[list[str], list[str]]:
        """The question ends with the name that is asked for."""
        words = text.split()
        at = words.index(ASKED) + 1 + len(_FACT) if ASKED in words else len(words)
        return words[:at], words[at:]

    def n_answered(self, question: list[str]) -> int:
        return self.numbers

    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """The first held-out texts, answered greedily."""
        return [
            Sample(each.text, " ".join(self.answer_of(model, [*each.words])), " ".join(each.answer))
            for each in self._samples
        ]

    def _shortest(self, facts: int) -> int:
        """The words of the shortest text of so many facts, with its answer."""
        return _FEWEST + facts * (len(_FACT) + self.numbers + 1) + len(_QUESTION) + self.numbers

    @cached_property
    def _samples(self) -> list[Haystack]:
        return self._held_out(_SAMPLES, self.length)

    def _held_out(self, count: int, length: int) -> list[Haystack]:
        rng = random.Random(0)
        haystacks: list[Haystack] = []
        while len(haystacks) < count:
            haystack = self.haystack(rng, length)
            if is_held_out(haystack.text):
                haystacks.append(haystack)
        return haystacks
