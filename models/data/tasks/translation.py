"""Translation: of the shipped grammar, which also asks what each pronoun means, or of anybody's pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from models.config import Kind
from models.data.corpus import Vocabulary, kept_vocabulary
from models.data.grammar import sample_pairs, showcase
from models.data.grammar.simple import Direction
from models.data.parallel import (
    NOTHING_NAMED,
    Row,
    Table,
    first_token,
    grammar_batches,
    grammar_row,
    read_parallel,
)
from models.data.tasks.algorithmic import padded, random_of
from models.data.tasks.batch import IGNORED, Batch, Reading, Sample
from models.data.tasks.options import option
from models.data.tasks.task import Tally, Task, share
from models.data.text_tokenizers import MAX_VOCABULARY, TextTokenizer
from models.data.tokenizers import BOS, EOS, PAD, SPECIALS, WordTokenizer
from models.engine.decoding import greedy
from models.engine.transformer import Transformer

_SAMPLES = 4
_MOST_PROBED = 64  # tokens a side


def make_batch(rows: Sequence[Row]) -> Batch:
    """Sentences padded to one length: source and target, what follows, `extra["named"]` at each pronoun."""
    sources, targets, named = zip(*rows, strict=True)
    return Batch(
        (padded(sources, PAD), padded([[BOS, *ids] for ids in targets], PAD)),
        padded([[*ids, EOS] for ids in targets], IGNORED),
        {"named": padded(named, NOTHING_NAMED)},
    )


def losses(model: Transformer, batch: Batch, *, label_smoothing: float = 0.0) -> dict[str, Tensor]:
    """Mean cross-entropies in nats: "translation" per target word, "antecedent" per source pronoun.

    The second reads the encoder's output at each pronoun through the model's own output layer: the vector
    there has to name the noun that the pronoun means. It adds no parameter.
    """
    source, target = batch.inputs
    memory = model.encode(source)
    written = batch.targets != IGNORED
    logits = model.decode(target, memory, source, asked=written).float()
    translation = cross_entropy(logits, batch.targets[written], label_smoothing=label_smoothing)
    asked = batch.extra["named"] != NOTHING_NAMED
    if not bool(asked.any()):
        return {"translation": translation, "antecedent": translation.new_zeros(())}
    named = model.unembed(memory[asked]).float()  # [pronoun, vocab]
    return {"translation": translation, "antecedent": cross_entropy(named, batch.extra["named"][asked])}


@dataclass(frozen=True, kw_only=True)
class Translation(Task):
    """English and French of the shipped grammar, in both directions; or a file's texts and translations.

    The grammar's pronouns are asked for the nouns they mean, `antecedent_weight` times as loudly as the
    translation. A file's tokens are byte pairs, counted in both of its columns together.
    """

    name = "translation"
    title = "Translation"
    see = (
        "In cross-attention, each word looks at the one it translates; in the encoder, a pronoun looks at "
        "the noun it means."
    )
    kind: ClassVar[Kind] = "encoder-decoder"
    sizes: ClassVar[dict[str, Any]] = {"n_layers": 2, "n_heads": 4, "d_model": 64}
    training: ClassVar[dict[str, Any]] = {
        "steps": 800,
        "batch_size": 64,
        "learning_rate": 3e-3,
        "warmup_steps": 100,
    }
    file: str = option("", "a table of two columns instead of the grammar", file=(".csv", ".tsv", ".txt"))
    antecedent_weight: float = option(0.5, "of naming what pronouns mean (grammar)", low=0.0, high=10.0)
    vocabulary: int = option(2000, "byte pairs (file)", low=300, high=MAX_VOCABULARY)
    length: int = option(128, "tokens of the longest sentence", low=16, high=1024)

    def dictates(self) -> dict[str, Any]:
        return {"vocab_size": len(self.outputs()), "max_len": self.length, "pad_id": PAD}

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        rng = random_of(generator)
        if self.file:
            pairs = rng.choices(self._table[held_out], k=size)
            return make_batch([self._file_row(*pair, self.length) for pair in pairs])
        seed = rng.randrange(1 << 62)
        drawn = islice(sample_pairs(seed, "held out" if held_out else "training"), size)
        return make_batch([grammar_row(self._words, pair, rng.choice(pair.directions)) for pair in drawn])

    def batches(self, seed: int, size: int, start: int = 0) -> Iterator[Batch]:
        """Of the grammar, the sentences of one stream, like lengths together, as the shipped translator had
        them. To go on from a step, the sentences before are drawn again.
        """
        if self.file:
            yield from super().batches(seed, size, start)
        yield from map(make_batch, grammar_batches(self._words, size, seed, start))

    def losses(self, model: Transformer, batch: Batch, *, label_smoothing: float = 0.0) -> dict[str, Tensor]:
        """ "loss" is the translation's, and of the grammar `antecedent_weight` of the antecedents' more."""
        parts = losses(model, batch, label_smoothing=label_smoothing)
        if self.file:
            return {"loss": parts["translation"]}
        return {"loss": parts["translation"] + self.antecedent_weight * parts["antecedent"], **parts}

    def terms(self, batch: Batch) -> dict[str, tuple[float, int]]:
        if self.file:
            return super().terms(batch)
        n_named = int((batch.extra["named"] != NOTHING_NAMED).sum())
        return {"translation": (1.0, batch.n_asked), "antecedent": (self.antecedent_weight, n_named)}

    @torch.no_grad()
    def tally(self, model: Transformer, batch: Batch) -> Tally:
        """Shares of sentences that are right throughout, and of pronouns whose noun is named."""
        source, target = batch.inputs
        memory = model.encode(source)
        written = batch.targets != IGNORED
        best = model.decode(target, memory, source, asked=written).argmax(dim=-1)
        right = torch.ones_like(written)
        right[written] = best == batch.targets[written]
        scores = {"whole sentences": share(right.all(dim=1))}
        asked = batch.extra["named"] != NOTHING_NAMED
        if bool(asked.any()):
            named = model.unembed(memory[asked]).argmax(dim=-1) == batch.extra["named"][asked]
            scores["antecedents"] = share(named)
        return scores

    def probe(self) -> Reading:
        """The animal that did not cross the street; of a file, its first held-out text. Both translated."""
        if not self.file:
            row = grammar_row(self._words, showcase(), "en-fr")
            return self._reading(" ".join(showcase().english), row.source, row.target)
        text, translation = self._shown
        row = self._file_row(text, translation, min(self.length, _MOST_PROBED))
        return self._reading(text, row.source, row.target)

    def read(self, text: str) -> Reading:
        """A text to translate; French if more of its words are. Nothing is written yet."""
        if not text.strip():
            raise ValueError("the text is empty; give at least one word")
        if self.file:
            source, unknown = [*self._encode(text), EOS], []
        else:
            words = self._words.encode(text)
            source = [first_token(self._direction(words.tokens)), *words.ids, EOS]
            unknown = [word.text for word in words.unknown]
        if len(source) > self.length:
            raise ValueError(
                f"the text has {len(source):,} tokens, but this model reads at most {self.length}; "
                f"remove {len(source) - self.length:,}"
            )
        return self._reading(text, source, [], tuple(dict.fromkeys(unknown)))

    @torch.no_grad()
    def answered(self, model: Transformer, reading: Reading) -> tuple[Reading, str]:
        """The model's own greedy translation."""
        source, device = reading.inputs[0], model.embedding.weight.device
        room = min(2 * source.shape[1] + 8, self.length - 1)
        prefix = torch.tensor([[BOS]], device=device)
        rows = greedy(model, prefix, source=source.to(device), eos_id=EOS, max_new_tokens=room)
        ids = [id_ for id_ in rows[0, 1:].tolist() if id_ != EOS]
        known = self._reading(reading.text, source[0].tolist(), ids, reading.unknown)
        return known, self.written(ids, french=int(source[0, 0]) == first_token("en-fr"))

    def outputs(self) -> tuple[str, ...]:
        return self._pieces.labels if self.file else tuple(self._words.vocabulary)

    def written(self, ids: Sequence[int], *, french: bool = False) -> str:
        if self.file:
            return self._pieces.decode(ids)
        return self._words.decode(ids, language="fr" if french else "en")

    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """Held-out sentences, and what the model makes of them."""
        if self.file:
            return [self._sample(model, *pair) for pair in self._table.held_out[:_SAMPLES]]
        samples = []
        for pair in (showcase(), showcase("wide"), *islice(sample_pairs(1, "held out"), _SAMPLES - 2)):
            direction = pair.directions[0]
            row, french = grammar_row(self._words, pair, direction), direction == "en-fr"
            text = " ".join(pair.source(direction))
            made = self.answered(model, self._reading(text, row.source, []))[1]
            samples.append(Sample(text, made, self.written(row.target, french=french)))
        return samples

    def learnt(self) -> dict[str, Any]:
        """The words of the grammar; or a file's tokenizer, and the pair that is watched."""
        if self.file:
            return {"tokenizer": self._pieces.to_json(), "shown": list(self._shown)}
        return {"words": self._vocabulary._asdict()}

    def restore(self, learnt: dict[str, Any]) -> None:
        """Raises ValueError for what `learnt` did not return."""
        if not self.file:
            words = learnt.get("words")
            if not isinstance(words, dict) or set(words) != set(Vocabulary._fields):
                raise ValueError("the grammar's words are missing; give what learnt returned")
            self.__dict__["_vocabulary"] = Vocabulary(**words)
            return
        shown = learnt.get("shown")
        if not isinstance(shown, list) or len(shown) != 2 or not all(isinstance(s, str) for s in shown):
            raise ValueError(f"shown={shown!r:.40} is no pair of texts; give what learnt returned")
        pieces = TextTokenizer.from_json(learnt.get("tokenizer", {}))
        self.__dict__.update(_pieces=pieces, _shown=(shown[0], shown[1]))

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return kept_vocabulary()

    @cached_property
    def _words(self) -> WordTokenizer:
        return WordTokenizer(self._vocabulary.words)

    @cached_property
    def _table(self) -> Table:
        return read_parallel(Path(self.file).expanduser())

    @cached_property
    def _pieces(self) -> TextTokenizer:
        sides = (side for pair in self._table.training for side in pair)
        return TextTokenizer.bpe(sides, self.vocabulary, specials=SPECIALS)

    @cached_property
    def _shown(self) -> tuple[str, str]:
        """The first held-out pair that is short enough to be looked at, or else the shortest."""
        short = (pair for pair in self._table.held_out if max(map(len, map(self._encode, pair))) < 32)
        return next(short, min(self._table.held_out, key=lambda pair: max(map(len, pair))))

    def _sample(self, model: Transformer, text: str, translation: str) -> Sample:
        """A text of the file, as much of it as the model reads, and what it makes of that."""
        source = self._file_row(text, translation, self.length).source
        return Sample(text, self.answered(model, self._reading(text, source, []))[1], translation)

    def _file_row(self, text: str, translation: str, room: int) -> Row:
        """A pair, cut where a side with its <bos> or <eos> has more than `room` tokens."""
        source, target = (self._encode(side)[: room - 1] for side in (text, translation))
        return Row([*source, EOS], target, [NOTHING_NAMED] * (len(source) + 1))

    def _encode(self, text: str) -> list[int]:
        return self._pieces.encode(text)

    def _direction(self, tokens: Sequence[str]) -> Direction:
        known = [word.lower() for word in tokens]
        english = sum(word in self._vocabulary.english for word in known)
        return "fr-en" if sum(word in self._vocabulary.french for word in known) > english else "en-fr"

    def _reading(
        self, text: str, source: list[int], target: list[int], unknown: tuple[str, ...] = ()
    ) -> Reading:
        """What the encoder reads, and <bos> and the target, which the decoder reads to write it."""
        names, written = self.outputs(), [BOS, *target]
        tokens = {"encoder": [names[id_] for id_ in source], "decoder": [names[id_] for id_ in written]}
        return Reading((torch.tensor([source]), torch.tensor([written])), tokens, text, unknown=unknown)
