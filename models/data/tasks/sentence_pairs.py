"""Turns pairs of sentences into rows of ids, and defines the base of tasks that translate them."""

import random
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ...engine.decoding import beam_search, greedy
from ...engine.transformer import Transformer
from .. import one_in
from ..grammar import Pair, sample_pairs
from ..grammar.sentences import Direction
from ..tables import ColumnRole, SplitTable, TableFormat, read_rows
from ..word_tokenizer import BOS, EOS, PAD, PRONOUNS, SPECIALS, TO_ENGLISH, TO_FRENCH, UNK, WordTokenizer
from .algorithmic import pad_rows
from .batch import IGNORED, Alphabet, Answers, Batch, Judgement, Quotients, Reading, Split, Writing
from .task import Task, option

UNKNOWN_SHARE = 0.05
NOTHING_NAMED = -100  # cross_entropy's ignore_index
_HELD_OUT_SHARE = 10  # one pair in ten
_POOL = 16  # batches drawn together and sorted by length, so that little is padding
TWICE = "that come twice"
_NAMES = (("source", "text", "from", "en", "english"), ("target", "translation", "to"))
ROLES = (ColumnRole("source_column", _NAMES[0]), ColumnRole("target_column", _NAMES[1]))
_NEEDS = (
    "call two columns source and target, or choose them (on the command line: source_column and "
    "target_column); each line is a text and its translation, with a tab, comma or semicolon between"
)


class Row(NamedTuple):
    """What the encoder reads, with <eos>; what is written, without it; the noun that each pronoun means."""

    source: list[int]
    target: list[int]
    named: list[int]


def source_ids(tokenizer: WordTokenizer, words: Sequence[str], direction: Direction) -> list[int]:
    """What the encoder reads: the language to write in, the words, <eos>."""
    return [first_token(direction), *map(tokenizer.id, words), EOS]


def first_token(direction: Direction) -> int:
    return TO_FRENCH if direction == "en-fr" else TO_ENGLISH


def grammar_row(tokenizer: WordTokenizer, pair: Pair, direction: Direction) -> Row:
    """A pair of the grammar; a pronoun without an antecedent in its sentence names itself."""
    source = source_ids(tokenizer, pair.source(direction), direction)
    pronouns = {tokenizer.id(word) for word in PRONOUNS if word in tokenizer}
    nouns = [id_ if id_ in pronouns else NOTHING_NAMED for id_ in source]
    if mention := pair.mention(direction):
        nouns[mention.pronoun + 1] = source[mention.antecedent + 1]
    return Row(source, list(map(tokenizer.id, pair.target(direction))), nouns)


def grammar_batches(tokenizer: WordTokenizer, size: int, seed: int, start: int = 0) -> Iterator[list[Row]]:
    """Endless training batches from the one of step `start` on, always the same for a seed.

    A batch holds sentences of like lengths, in both directions.
    """
    pairs = sample_pairs(seed, "training")
    rng = random.Random(seed)
    step = 0
    while True:
        pairs_of_pool = [_maybe_unknown(pair, rng) for pair in islice(pairs, _POOL * size)]
        pool = [(pair, rng.choice(pair.directions)) for pair in pairs_of_pool]
        pool.sort(key=lambda example: len(example[0].english) + len(example[0].french))
        firsts = list(range(0, len(pool), size))
        rng.shuffle(firsts)
        for first in firsts:
            if step >= start:
                yield [grammar_row(tokenizer, *example) for example in pool[first : first + size]]
            step += 1


def _maybe_unknown(pair: Pair, rng: random.Random) -> Pair:
    """Now and then hides one noun behind <unk> on both sides, so that unknown words do little harm."""
    if pair.english_mention is None or pair.french_mention is None or rng.random() >= UNKNOWN_SHARE:
        return pair
    role = rng.choice(("antecedent", "rival"))
    english, french = list(pair.english), list(pair.french)
    english[getattr(pair.english_mention, role)] = SPECIALS[UNK]
    french[getattr(pair.french_mention, role)] = SPECIALS[UNK]
    return replace(pair, english=tuple(english), french=tuple(french))


def read_pairs(path: Path, how: TableFormat | None = None) -> SplitTable:
    """A text file of two columns, or of more of which two are named; a first line of names is skipped.

    Tabs, commas, semicolons or bars part the columns. Pairs that lack a side, and those that come twice, are
    left out and counted. Raises ValueError, with value, rule and remedy, for fewer than 20 or more than a
    million pairs, and as `read_rows` does.
    """
    rows = read_rows(path, how or TableFormat(), ROLES, needs=_NEEDS)
    pairs: dict[tuple[str, str], None] = {}
    for line, (text, translation) in rows.cells():
        if (text, translation) in pairs:
            rows.leave_out(TWICE, line)
        else:
            pairs[text, translation] = None
    held_out = [pair for pair in pairs if one_in(_HELD_OUT_SHARE, pair[0])]
    training = [pair for pair in pairs if not one_in(_HELD_OUT_SHARE, pair[0])]
    if not held_out and len(training) >= 20:
        held_out = [training.pop() for _ in range(len(training) // _HELD_OUT_SHARE)]
    if not held_out or len(training) < 10:
        raise ValueError(f"{rows.read.name!r} has {len(pairs)} different pairs; give 20 or more")
    return SplitTable(tuple(training), tuple(held_out), source=rows.source(ROLES))


# The base of tasks that write one text after another has been read: a text and its translation.

_SLACK = 8  # tokens that a translation may have beyond twice its source


def make_batch(rows: Sequence[Row]) -> Batch:
    """Sentences padded to one length: source and target, what follows, `extra["named"]` at each pronoun."""
    sources, targets, nouns = zip(*rows, strict=True)
    return Batch(
        (pad_rows(sources, PAD), pad_rows([[BOS, *ids] for ids in targets], PAD)),
        pad_rows([[*ids, EOS] for ids in targets], IGNORED),
        {"named": pad_rows(nouns, NOTHING_NAMED)},
    )


@dataclass(frozen=True, kw_only=True)
class Pairs(Task):
    """Both translators of English and French build on this: <2fr> or <2en> in front says what to write."""

    kind = "encoder-decoder"
    abilities = ("translate",)
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 64}
    training = {"steps": 800, "batch_size": 64, "learning_rate": 3e-3, "warmup_steps": 100}
    length: int = option(128, "tokens of the longest sentence", low=16, high=1024)

    def required_sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.outputs()), "max_len": self.length, "pad_id": PAD}

    def stretched(self, length: int) -> Task:
        raise ValueError(
            f"{self.title!r} was trained on texts of at most {self.length:,} tokens; give a "
            "shorter one, or choose a language model"
        )

    def losses(self, model: Transformer, batch: Batch, *, label_smoothing: float = 0.0) -> dict[str, Tensor]:
        """ "loss": the mean cross-entropy of the target's tokens, in nats."""
        source, target = batch.inputs
        return {"loss": self._loss(model, model.encode(source), source, target, batch, label_smoothing)}

    @torch.no_grad()
    def judged(self, model: Transformer, batch: Batch) -> Judgement:
        at = self.at(model, batch)
        return Judgement({"loss": at.loss()}, self.scores_of(at, batch))

    def scores_of(self, at: Answers, batch: Batch) -> dict[str, Quotients]:
        """Shares of sentences that are right throughout, and of tokens that are likeliest where they stand,
        after the right ones (teacher forcing).
        """
        return {"whole sentences": at.whole(), "tokens right": at.shares()}

    @torch.no_grad()
    def translations(self, model: Transformer, batch: Batch) -> list[str]:
        """What the model writes for each source of a batch, greedily and all at once."""
        source = batch.inputs[0]
        prefix, room = torch.full_like(source[:, :1], BOS), self._room(source.shape[1])
        rows = greedy(model, prefix, source=source, eos_id=EOS, max_new_tokens=room)[:, 1:].tolist()
        ends = [row.index(EOS) if EOS in row else len(row) for row in rows]
        firsts = source[:, 0].tolist()
        return [self.spoken(row[:end], first) for row, end, first in zip(rows, ends, firsts, strict=True)]

    def references(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        """The right translation of each source of a batch."""
        rows = [[id_ for id_ in row if id_ not in (IGNORED, EOS)] for row in batch.targets.tolist()]
        return [self.spoken(r, f) for r, f in zip(rows, batch.inputs[0][:, 0].tolist(), strict=True)]

    def prompts_of(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        return [self.written([i for i in row if i >= len(SPECIALS)]) for row in batch.inputs[0].tolist()]

    @torch.no_grad()
    def answered(self, model: Transformer, reading: Reading) -> Reading:
        """The model's own greedy translation."""
        return self._with_target(reading, self._decode(model, reading.inputs[0], 1))

    def writing(self, reading: Reading) -> Writing:
        n_read = int((reading.inputs[0] != PAD).sum())
        return Writing(
            (BOS,), self._room(n_read), frozenset({EOS}), lambda ids: self._with_target(reading, ids)
        )

    def _room(self, n_read: int) -> int:
        """How many tokens a translation of so many may have."""
        return min(2 * n_read + _SLACK, self.length - 2)

    def _loss(
        self,
        model: Transformer,
        memory: Tensor,
        source: Tensor,
        target: Tensor,
        batch: Batch,
        label_smoothing: float,
    ) -> Tensor:
        written = batch.targets != IGNORED
        if target.device.type == "cpu":
            logits = model.decode(target, memory, source, positions=written).float()
            return cross_entropy(logits, batch.targets[written], label_smoothing=label_smoothing)
        # To count what is written would wait for the device: there, all positions are computed.
        logits, targets = model.decode(target, memory, source).float().flatten(0, 1), batch.targets.flatten()
        return cross_entropy(logits, targets, ignore_index=IGNORED, label_smoothing=label_smoothing)

    def _decode(self, model: Transformer, source: Tensor, width: int) -> list[int]:
        """The ids that the model writes, its <eos> included; width 1 is greedy.

        What does not end is cut where it still can be read again: after <2en> or <2fr>, before <eos>.
        """
        device = model.embedding.weight.device
        source, prefix = source.to(device), torch.tensor([[BOS]], device=device)
        room = self._room(source.shape[1])
        if width == 1:
            rows = greedy(model, prefix, source=source, eos_id=EOS, max_new_tokens=room)
            return rows[0, 1:].tolist()
        tree = beam_search(model, prefix, source=source, width=width, eos_id=EOS, max_new_tokens=room)
        return tree.tokens()

    def _with_target(self, reading: Reading, written: Sequence[int]) -> Reading:
        """The same with these ids in the decoder, which reads them to write them, and then <eos>."""
        ids = [id_ for id_ in written if id_ != EOS]
        source = reading.inputs[0]
        return replace(
            reading,
            inputs=(source, torch.tensor([[BOS, *ids]])),
            tokens={**reading.tokens, "decoder": self._labels([BOS, *ids])},
            answer=self.spoken(ids, int(source[0, 0])),
            following=SPECIALS[EOS] if EOS in written else None,
            forced=False,
        )

    def spoken(self, ids: Sequence[int], first: int) -> str:
        """A target as text; `first` is the first token of its source."""
        return self.written(ids)

    def _labels(self, ids: Sequence[int]) -> list[str]:
        names = self.outputs()
        return [names[id_] for id_ in ids]

    def _reading(self, text: str, source: list[int], target: list[int]) -> Reading:
        """What the encoder reads, and <bos> and the target, which the decoder reads to write it."""
        written = [BOS, *target]
        tokens = {"encoder": self._labels(source), "decoder": self._labels(written)}
        inputs = (torch.tensor([source]), torch.tensor([written]))
        return Reading(inputs, tokens, text)

    @abstractmethod
    def read(self, text: str, *, direction: str = "") -> Reading:
        """A text to translate, "en-fr" or "fr-en"; "" takes the language that its words are of.

        Nothing is written yet. Raises ValueError for an empty text, one too long, and an unknown direction.
        """

    @abstractmethod
    def forced(self, reading: Reading, target: str) -> Reading:
        """The same with a typed translation in the decoder. Raises ValueError for one too long."""

    def read_by(
        self,
        model: Transformer,
        text: str,
        *,
        direction: str = "",
        target: str = "",
        beam: int = 1,
        padding: int = 0,
    ) -> Reading:
        """`text` and its translation: `target`, or where that is empty the model's own, greedy or by a beam.

        `padding` <pad> follow the source, hidden from everybody as they would be in a batch. Raises
        ValueError as `read` and `beam_search` do, for a target too long, and for padding without room.
        """
        reading = self.read(text, direction=direction)
        room = self.length - len(reading.tokens["encoder"])
        if not 0 <= padding <= room:
            raise ValueError(
                f"padding={padding} does not fit the {self.length - room} tokens; give 0 to {room}, or fewer "
                "words"
            )
        if target.strip():
            reading = self.forced(reading, target)
        else:
            reading = self._with_target(reading, self._decode(model, reading.inputs[0], beam))
        tokens = {**reading.tokens, "encoder": reading.tokens["encoder"] + [SPECIALS[PAD]] * padding}
        source = torch.cat([reading.inputs[0], torch.full((1, padding), PAD)], dim=1)
        return replace(reading, tokens=tokens, inputs=(source, reading.inputs[1]))

    def made_of(self) -> Alphabet:
        names, before = self.outputs(), {"encoder": (TO_FRENCH,), "decoder": (BOS,)}
        return Alphabet(names, range(len(SPECIALS), len(names)), before, {"encoder": (EOS,)})


def check_direction(direction: str) -> Direction:
    """Raises ValueError for what is neither "en-fr" nor "fr-en"."""
    if direction not in ("en-fr", "fr-en"):
        raise ValueError(f"direction={direction!r} is unknown; choose 'en-fr' or 'fr-en'")
    return cast(Direction, direction)
