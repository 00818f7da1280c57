"""Defines the translation of everyday sentences between English and French, in byte pairs."""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import Annotated, Any

import torch
from pydantic import Field

from ...engine.transformer import Transformer
from ..grammar import sample_pairs
from ..grammar.pairs import Split as GrammarSplit
from ..grammar.sentences import Direction
from ..learnt_tokenizer import MAX_LEARNT_FROM, LearntTokenizer, bytes_of
from ..word_tokenizer import EOS, SPECIALS
from .batch import Advice, Aligned, Answers, Batch, Quotients, Rarity, Reading, Sample, Split, check_room
from .finite import THREE, OwnTable, column
from .sentence_pairs import (
    NOTHING_NAMED,
    Pairs,
    Row,
    check_direction,
    first_token,
    make_batch,
    read_pairs,
)
from .task import generator_of, learnt_value, option

LANGUAGES = {"en": "English", "fr": "French"}
DIRECTIONS: tuple[Direction, ...] = ("en-fr", "fr-en")
_CASUAL, _EIGHT = (0, 5), 8  # of so many examples, those at these places are casual: one in each direction
_MORE = 8  # times that a sentence of one word is there in either form; over n², of n words
_KEPT, _LONGEST = 500, 1_000  # pairs that a model brings with it, and characters of a side
_MOST_PROBED = 64  # tokens a side
_SAMPLES = 4
_TRAINING, _HELD_OUT = 5_000, 500  # pairs of the grammar that stand in for a file
_SURE = 2.0  # nats by which a text must be likelier in the other language before that is said
ENDINGS = (".", "!", "?")
WORD = re.compile(r"\w+|[^\w\s]")
"""A word, or a sign, of the pairs that were aligned by hand."""
TYPED = str.maketrans({"’": "'", "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " "})


def as_typed(text: str) -> str:
    """The text with the apostrophe and the blanks of a keyboard, whichever a typesetter put there."""
    return text.translate(TYPED)


def without_stop(text: str) -> str:
    """A sentence without its last sign, unless it has more of that sort ("U.S.A.", "Wait...")."""
    last = text[-1:]
    return text[:-1].rstrip() if last in ENDINGS and text.count(last) == 1 else text


def casual(text: str) -> str:
    """A sentence as people type it in a hurry: no capital in front, no sign at the end."""
    return text[:1].lower() + without_stop(text)[1:]


@cache
def aligned_pairs() -> dict[tuple[str, str], dict[tuple[int, int], bool]]:
    """By English and French as typed: the words that belong together, English first, and whether surely."""
    table = tomllib.loads(Path(__file__).parents[1].joinpath("alignments.toml").read_text(encoding="utf-8"))

    def links(text: str) -> list[tuple[int, int]]:
        return [(int(one), int(other)) for one, other in (link.split("-") for link in text.split())]

    return {
        (as_typed(pair["en"]), as_typed(pair["fr"])): dict.fromkeys(links(pair["possible"]), False)
        | dict.fromkeys(links(pair["sure"]), True)
        for pair in table["pairs"]
    }


def _bytes_within(text: str, start: int, end: int) -> range:
    first = len(text[:start].encode())
    return range(first, first + len(text[start:end].encode()))


@dataclass(frozen=True, kw_only=True)
class Everyday(OwnTable, Pairs):
    """The model translates English and French of a table, or else of our grammar, into one another.

    Each pair is two examples, a direction each. A quarter of those it is trained on are casual: without first
    capital and last sign on either side. Greetings and the like are rare in tables, and the first thing that
    people type: sentences of one English word are there 16 more times, those of two 4 more times, half of
    them casual, half only without their last sign. Without a file, the pairs are the grammar's.
    """

    name = "everyday"
    title = "Everyday translation"
    see = see_own = (
        "No head was trained for a job; see which words cross-attention reads for each piece it writes."
    )
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 96}
    file: str = option("", "a table of two columns instead", file=(".csv", ".tsv", ".txt"))
    source_column: str = column("texts to translate")
    target_column: str = column("translations")
    columns = ("source_column", "target_column")
    read_own = staticmethod(read_pairs)
    vocabulary: int = option(4000, "byte pairs of both languages together", low=300, high=20_000)

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        if not held_out and not self.rows["training"]:
            raise ValueError(f"{self.file!r} is not there to train on; choose another file")
        return super().batch(generator, size, held_out=held_out)

    def numbered(self, split: Split, numbers: Sequence[int], generator: torch.Generator) -> Batch:
        return make_batch([self.example(split, at) for at in numbers])

    def references(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        """As the file has it, however much of it the model reads."""
        if numbers is None:
            return super().references(batch, split, numbers)
        return [self.rows[split][at][1] for at in numbers]

    def scores_of(self, at: Answers, batch: Batch) -> dict[str, Quotients]:
        """The share of tokens that are likeliest where they stand, after the right ones (teacher forcing);
        and that of whole sentences, which stays at none for long where texts have more ways to be said.
        """
        return {"tokens right": at.shares(), "whole sentences": at.whole()}

    @cached_property
    def pairs(self) -> dict[Split, Sequence[tuple[str, str]]]:
        """English and French; where the file is not here, the held-out pairs that a model brings with it.
        Without a file, pairs of the grammar, which has more of them to hold out.
        """
        kept, file = self.__dict__.get("_examples"), Path(self.file).expanduser()
        if kept and self.file and not (file.is_absolute() and file.is_file()):  # a card has the bare name
            return {"training": (), "held out": kept, "test": ()}
        if self.file:
            return self.file_rows
        pairs = _of_grammar(1, "held out", (1 + (self.splits == THREE)) * _HELD_OUT)
        held_out, further = dict.fromkeys(pairs[:_HELD_OUT]), dict.fromkeys(pairs[_HELD_OUT:])
        tested = [pair for pair in further if pair not in held_out]
        training = _of_grammar(0, "training", _TRAINING)
        return {"training": training, "held out": list(held_out), "test": tested}

    @cached_property
    def rows(self) -> dict[Split, Sequence[tuple[str, str]]]:
        """Source and target: at even places from English, at odd ones from French."""
        return {split: _both_ways(pairs, split) for split, pairs in self.pairs.items()}

    def widths(self, split: Split, numbers: Sequence[int]) -> list[int]:
        """Tokens of the longer side, and of the target among equals: fewer are padding than by characters."""
        return [self._lengths(split)[at] for at in numbers]

    def n_tokens(self, text: str) -> int:
        return 2 + len(self._encode(text))

    def probe(self) -> Reading:
        row = self._cut(*self._probe_pair, "en-fr", min(self.length, _MOST_PROBED))
        return self._reading(self._probe_pair[0], row.source, row.target)

    def read(self, text: str, *, direction: str = "") -> Reading:
        """The words of both languages are told apart by their pieces (`leaning`); "auto" is as ""."""
        ids = self._encode(text)
        if not text.strip():
            raise ValueError("the text is empty; give at least one word")
        leaning = self.leaning(ids)
        own = DIRECTIONS[leaning < 0]
        chosen = own if direction in ("", "auto") else check_direction(direction)
        source = [first_token(chosen), *ids, EOS]
        check_room(len(source), self.length)
        better = None
        if abs(leaning) > _SURE and own != chosen:
            read, other = (LANGUAGES[each] for each in chosen.split("-"))
            better = Advice("direction", own, f"Its pieces are those of {other} rather than of {read}.")
        return replace(self._reading(text, source, []), advice=better)

    def leaning(self, ids: Sequence[int]) -> float:
        """The log of how much likelier these pieces are in English than in French, each by itself (nats)."""
        english, french = self._counts["en"], self._counts["fr"]
        unseen = len(self._pieces)
        shift = math.log((sum(french.values()) + unseen) / (sum(english.values()) + unseen))
        return sum(math.log((english[at] + 1) / (french[at] + 1)) + shift for at in ids)

    def forced(self, reading: Reading, target: str) -> Reading:
        ids = self._encode(target)
        check_room(len(ids) + 2, self.length)
        return replace(self._with_target(reading, [*ids, EOS]), answer=target, forced=True)

    def outputs(self) -> tuple[str, ...]:
        return self._pieces.labels

    def written(self, ids: Sequence[int]) -> str:
        return self._pieces.decode(ids).strip()

    @torch.no_grad()
    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """Held-out texts, as much of each as the model reads, and what it makes of them."""
        samples = []
        for at, (text, translation) in enumerate(self.rows["held out"][:_SAMPLES]):
            source = self.example("held out", at).source
            own = self.answered(model, self._reading(text, source, [])).answer
            samples.append(Sample(text, own, translation))
        return samples

    def alignments(self, reading: Reading) -> list[Aligned] | None:
        """As aligned by hand (alignments.toml), where that pair is read and written; each piece of a word
        with each of its counterparts.
        """
        source, (_, *target) = reading.inputs[0][0].tolist(), reading.inputs[1][0].tolist()
        english = source[0] == first_token("en-fr")
        texts = self.written(source[1 : source.index(EOS)]), self.written(target)
        links = aligned_pairs().get(texts if english else texts[::-1])
        if links is None:
            return None
        read, written = self._words_of(source[1 : source.index(EOS)]), self._words_of(target)
        return [
            Aligned(query, 1 + key, sure)  # the decoder writes a piece one position before it; <2fr> is first
            for query, word in enumerate(written)
            for key, other in enumerate(read)
            if (sure := links.get((other, word) if english else (word, other))) is not None
        ] or None

    def _words_of(self, ids: Sequence[int]) -> list[int]:
        """For each piece the number of its word, by `WORD`; -1 for one that no word begins or goes on in."""
        text = f" {self.written(ids)}"
        of_byte = {
            byte: number
            for number, word in enumerate(WORD.finditer(text))
            for byte in _bytes_within(text, *word.span())
        }
        ends = list(accumulate(len(bytes_of(self._pieces.vocabulary[at])) for at in ids))
        spans = zip([0, *ends], ends, strict=False)
        return [next((of_byte[byte] for byte in range(*span) if byte in of_byte), -1) for span in spans]

    def rarity(self) -> Rarity:
        both = Counter({self.outputs()[at]: n for at, n in (self._counts["en"] + self._counts["fr"]).items()})
        return Rarity.counted(both, SPECIALS, "the sentences that it was trained on")

    def texts(self, seed: int) -> Iterator[str]:
        rows = self.rows["held out"]
        while rows:
            for at in torch.randperm(len(rows), generator=generator_of(seed, 0)).tolist():
                yield rows[at][0]
            seed += 1

    def learnt(self) -> dict[str, Any]:
        """The tokenizer, how often each piece occurs in each language, the pair that is watched, and pairs
        that were not trained on, from all over the table.
        """
        known = range(len(self._pieces))
        counts = {language: [n[at] for at in known] for language, n in self._counts.items()}
        pairs = self.pairs["test"] or self.pairs["held out"]
        short = [list(pair) for pair in pairs if max(map(len, pair)) <= _LONGEST]
        examples = short[:: max(1, len(short) // _KEPT)][:_KEPT]
        known_words = {"tokenizer": self._pieces.to_json(), "shown": list(self._probe_pair)}
        return {**known_words, "counts": counts, "examples": examples}

    def restore(self, learnt: dict[str, Any]) -> None:
        """Raises ValueError for what `learnt` did not return."""
        shown = learnt_value(learnt, "shown", Annotated[list[str], Field(min_length=2, max_length=2)])
        pieces = LearntTokenizer.from_json(learnt.get("tokenizer"), SPECIALS)
        self.__dict__.update(_pieces=pieces, _probe_pair=tuple(shown))
        n = len(self._pieces)
        of_pieces = Annotated[list[Annotated[int, Field(ge=0, lt=2**53)]], Field(min_length=n, max_length=n)]
        counts = learnt_value(learnt, "counts", dict[str, of_pieces])
        side = Annotated[str, Field(min_length=1, max_length=_LONGEST)]
        pair = Annotated[list[side], Field(min_length=2, max_length=2)]
        examples = learnt_value(learnt, "examples", Annotated[list[pair], Field(min_length=1)])
        if self._pieces.kind != "bpe" or counts.keys() != LANGUAGES.keys():
            raise ValueError("the counts or the byte pairs are missing; give what learnt returned")
        self.__dict__["_examples"] = tuple((english, french) for english, french in examples[:_KEPT])
        self.__dict__["_counts"] = {language: Counter(dict(enumerate(n))) for language, n in counts.items()}

    @cached_property
    def _pieces(self) -> LearntTokenizer:
        """Learnt from pairs all over the table, which may be sorted by length."""
        pairs = self.pairs["training"]
        step = max(1, sum(len(one) + len(other) for one, other in pairs) // MAX_LEARNT_FROM + 1)
        texts = (f" {as_typed(text)}" for pair in pairs[::step] for text in pair)
        return LearntTokenizer.bpe(texts, self.vocabulary, specials=SPECIALS)

    @cached_property
    def _probe_pair(self) -> tuple[str, str]:
        """The first held-out pair that is short enough to be looked at, or else the shortest."""
        encode = self._pieces.encode
        short = (pair for pair in self.rows["held out"] if max(map(len, map(encode, pair))) < 32)
        return next(short, min(self.rows["held out"], key=lambda pair: max(map(len, pair))))

    @cached_property
    def _counts(self) -> dict[str, Counter[int]]:
        counts: dict[str, Counter[int]] = {language: Counter() for language in LANGUAGES}
        for pair in self.pairs["training"]:
            for language, text in zip(LANGUAGES, pair, strict=True):
                counts[language].update(self._encode(text))
        return counts

    def _lengths(self, split: Split) -> list[int]:
        """For each example, 1,000 times the tokens of its longer side, and those of its target."""
        known: dict[Split, list[int]] = self.__dict__.setdefault("_known_lengths", {})
        if split not in known:
            sizes = ([len(self._encode(side)) for side in row] for row in self.rows[split])
            known[split] = [1000 * max(source, target) + target for source, target in sizes]
        return known[split]

    def _encode(self, text: str) -> list[int]:
        """The first word begins with a blank as all others do, so that it is the same piece."""
        return self._pieces.encode(f" {as_typed(text).strip()}")

    def example(self, split: Split, at: int) -> Row:
        return self._cut(*self.rows[split][at], DIRECTIONS[at % 2], self.length)

    def _cut(self, text: str, translation: str, direction: Direction, room: int) -> Row:
        """A pair, cut where a side with its special tokens has more than `room` tokens."""
        source, target = self._encode(text)[: room - 2], self._encode(translation)[: room - 1]
        return Row([first_token(direction), *source, EOS], target, [NOTHING_NAMED] * (len(source) + 2))


def _of_grammar(seed: int, split: GrammarSplit, count: int) -> list[tuple[str, str]]:
    """English and French of the first pairs of the grammar."""
    return [(" ".join(p.english), " ".join(p.french)) for p in islice(sample_pairs(seed, split), count)]


def _both_ways(pairs: Sequence[tuple[str, str]], split: Split) -> list[tuple[str, str]]:
    typed = [(as_typed(english), as_typed(french)) for english, french in pairs]
    rows = list(chain.from_iterable((pair, pair[::-1]) for pair in typed))
    if split != "training":
        return rows
    hurried = [
        (casual(source), casual(target)) if at % _EIGHT in _CASUAL else (source, target)
        for at, (source, target) in enumerate(rows)
    ]
    for english, french in typed:
        for form in (casual, without_stop):
            pair = form(english), form(french)
            hurried += [pair, pair[::-1]] * (_MORE // len(english.split()) ** 2)
    return hurried
