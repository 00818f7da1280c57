"""Defines translation of a person's own pairs of texts, in byte pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Annotated, Any

import torch
from pydantic import Field

from ...engine.transformer import Transformer
from ..grammar import sample_pairs
from ..grammar.pairs import Split as GrammarSplit
from ..learnt_tokenizer import MAX_VOCABULARY, LearntTokenizer
from ..word_tokenizer import BOS, EOS, SPECIALS
from .batch import Alphabet, Answers, Batch, Quotients, Reading, Sample, Split, check_room
from .finite import THREE, OwnTable, column
from .sentence_pairs import NOTHING_NAMED, Pairs, Row, make_batch, read_pairs
from .task import learnt_value, option

_SAMPLES = 4
_MOST_PROBED = 64  # tokens a side
_TRAINING, _HELD_OUT = 5_000, 500  # pairs of the grammar that stand in for a file


@dataclass(frozen=True, kw_only=True)
class ParallelText(OwnTable, Pairs):
    """The model translates a file of two columns; without a file, English and French of the grammar.

    Its tokens are byte pairs, counted in both columns together.
    """

    name = "parallel-text"
    title = "Translation of your texts"
    see = "In cross-attention, a row (read → written next) looks at the word that it translates."
    see_own = "In cross-attention, a row (read → written next) often looks at the word that it translates."
    file: str = option("", "a table of two columns instead", file=(".csv", ".tsv", ".txt"))
    source_column: str = column("texts to translate")
    target_column: str = column("translations")
    vocabulary: int = option(2000, "byte pairs", low=300, high=MAX_VOCABULARY)
    columns = ("source_column", "target_column")

    def numbered(self, split: Split, numbers: Sequence[int], generator: torch.Generator) -> Batch:
        return make_batch([self.example(split, at) for at in numbers])

    def references(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        """As the file has it, however much of it the model reads."""
        if numbers is None:
            return super().references(batch, split, numbers)
        return [self.rows[split][at][1] for at in numbers]

    def n_tokens(self, text: str) -> int:
        return 1 + len(self._pieces.encode(text))

    def scores_of(self, at: Answers, batch: Batch) -> dict[str, Quotients]:
        """The share of tokens that are likeliest where they stand, after the right ones (teacher forcing);
        and that of whole sentences, which stays at none for long where texts have more ways to be said.
        """
        return {"tokens right": at.shares(), "whole sentences": at.whole()}

    def probe(self) -> Reading:
        """The first held-out pair."""
        text, translation = self._probe_pair
        row = self._row(text, translation, min(self.length, _MOST_PROBED))
        return self._reading(text, row.source, row.target)

    def read(self, text: str) -> Reading:
        """A text to translate. Nothing is written yet."""
        if not text.strip():
            raise ValueError("the text is empty; give at least one word")
        source = [*self._pieces.encode(text), EOS]
        check_room(len(source), self.length)
        return self._reading(text, source, [])

    def outputs(self) -> tuple[str, ...]:
        return self._pieces.labels

    def made_of(self) -> Alphabet:
        names, before = self.outputs(), {"encoder": (), "decoder": (BOS,)}
        return Alphabet(names, range(len(SPECIALS), len(names)), before, {"encoder": (EOS,)})

    def written(self, ids: Sequence[int]) -> str:
        return self._pieces.decode(ids)

    @torch.no_grad()
    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """Held-out texts, as much of each as the model reads, and what it makes of them."""
        samples = []
        for at, (text, translation) in enumerate(self.rows["held out"][:_SAMPLES]):
            source = self.example("held out", at).source
            own = self.answered(model, self._reading(text, source, [])).answer
            samples.append(Sample(text, own, translation))
        return samples

    def example(self, split: Split, at: int) -> Row:
        """One example of a part, as the model reads and writes it."""
        return self._row(*self.rows[split][at], self.length)

    def learnt(self) -> dict[str, Any]:
        """The tokenizer, and the pair that is watched."""
        return {"tokenizer": self._pieces.to_json(), "shown": list(self._probe_pair)}

    def restore(self, learnt: dict[str, Any]) -> None:
        """Raises ValueError for what `learnt` did not return."""
        pair = learnt_value(learnt, "shown", Annotated[list[str], Field(min_length=2, max_length=2)])
        pieces = LearntTokenizer.from_json(learnt.get("tokenizer"), SPECIALS)
        self.__dict__.update(_pieces=pieces, _probe_pair=tuple(pair))

    read_own = staticmethod(read_pairs)

    @cached_property
    def rows(self) -> dict[Split, Sequence[tuple[str, str]]]:
        return self.pairs

    @cached_property
    def pairs(self) -> dict[Split, Sequence[tuple[str, str]]]:
        """Without a file, pairs of the grammar, which has more of them to hold out."""
        if self.file:
            return self.file_rows
        training = _of_grammar(0, "training", _TRAINING)
        pairs = _of_grammar(1, "held out", (1 + (self.splits == THREE)) * _HELD_OUT)
        held_out, further = pairs[:_HELD_OUT], pairs[_HELD_OUT:]
        known = set(held_out)
        return {
            "training": training,
            "held out": list(dict.fromkeys(held_out)),
            "test": [pair for pair in dict.fromkeys(further) if pair not in known],
        }

    @cached_property
    def _pieces(self) -> LearntTokenizer:
        sides = (side for pair in self.rows["training"] for side in pair)
        return LearntTokenizer.bpe(sides, self.vocabulary, specials=SPECIALS)

    @cached_property
    def _probe_pair(self) -> tuple[str, str]:
        """The first held-out pair that is short enough to be looked at, or else the shortest."""
        encode = self._pieces.encode
        short = (pair for pair in self.rows["held out"] if max(map(len, map(encode, pair))) < 32)
        return next(short, min(self.rows["held out"], key=lambda pair: max(map(len, pair))))

    def _row(self, text: str, translation: str, room: int) -> Row:
        """A pair, cut where a side with its <bos> or <eos> has more than `room` tokens."""
        source, target = (self._pieces.encode(side)[: room - 1] for side in (text, translation))
        return Row([*source, EOS], target, [NOTHING_NAMED] * (len(source) + 1))


def _of_grammar(seed: int, split: GrammarSplit, count: int) -> list[tuple[str, str]]:
    """English and French of the first pairs of the grammar."""
    return [(" ".join(p.english), " ".join(p.french)) for p in islice(sample_pairs(seed, split), count)]
