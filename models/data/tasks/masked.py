"""Defines masked language models: words are hidden, and read from both sides (Devlin et al. 2019)."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

import torch

from ...engine.transformer import Transformer
from ..grammar.pairs import COUNTED_SENTENCES, kept_counts
from ..learnt_tokenizer import MAX_VOCABULARY, LearntTokenizer
from ..text_files import AUTO, own_name
from ..text_sources import GRAMMAR, TEXT_ENDINGS, TEXT_SOURCES, sentences, test_sentences, texts_of
from ..word_tokenizer import Unknown
from .algorithmic import pad_rows, random_of
from .batch import (
    IGNORED,
    Alphabet,
    Answers,
    Batch,
    Quotients,
    Rarity,
    Reading,
    Sample,
    Split,
    check_room,
)
from .finite import THREE, Finite, OwnFile, PartsOnDemand
from .task import generator_of, learnt_value, option

_MAX_CHARACTERS = 20_000  # of a sentence: more than any model here reads
MAX_SENTENCES = 200_000
"""They are all in memory."""
_END = re.compile(r"(?<=[.!?])\s+|\n+")


def sentences_of(source: str, file: str, split: Split, *, tested: bool, encoding: str = AUTO) -> list[str]:
    """The sentences of a part of a text; `tested`: it has a part for a test, whose sentences are neither
    trained on nor held out, and may be none.

    Raises ValueError for a source that is not here, a file that is no text, and fewer than 2 sentences.
    """
    if split == "test" and not tested:
        return []
    if source == GRAMMAR and not file:
        return test_sentences() if split == "test" else sentences(split == "held out")
    texts = texts_of(source, file, tested=tested, encoding=encoding)
    if split == "test":
        training, held_out, test = (list(islice(_sentences(text), MAX_SENTENCES)) for text in texts)
        known = {*training, *held_out}
        return [sentence for sentence in test if sentence not in known]
    part = list(islice(_sentences(texts[split == "held out"]), MAX_SENTENCES))
    if len(part) < 2:
        called = own_name(Path(file)) if file else source
        raise ValueError(
            f"{called!r} has {len(part)} sentences in its {'held-out ' * (split == 'held out')}part; "
            "take a longer text"
        )
    return part


def _sentences(text: str) -> Iterator[str]:
    """One after another: a file of full stops alone has millions."""
    start = 0
    for end in chain((match.span() for match in _END.finditer(text)), [(len(text), len(text))]):
        part = text[start : min(end[0], start + _MAX_CHARACTERS)].strip()
        if part:
            yield part
        start = end[1]


PAD, UNK, CLS, SEP, MASK = range(5)
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[NEXT]", "[OTHER]")
"""The last two answered whether a sentence follows another; nothing asks that any more, but the vocabularies
of models that were trained before have them."""
MASKED_SHARE = 0.15
_TYPED = re.compile(r"(\[MASK\]|\[SEP\])", re.IGNORECASE)
_SHOWN = "the animal did not cross the [MASK] because it was too tired"
_MOST_PROBED = 64  # tokens
_LEARN_FROM = 50_000  # sentences that word pieces are counted in


@dataclass(frozen=True, kw_only=True)
class Masked(OwnFile, Finite):
    """The model tells 15% of a sentence's words from the rest: 80% of these 15% are [MASK], 10% another word
    at random, 10% themselves (Devlin et al. 2019, 3.1).
    """

    name = "masked"
    title = "Masked words"
    see = "Heads look from [MASK] to both sides: to a noun's verb, to a pronoun's noun."
    see_own = "Look where heads look from [MASK]: to one side or both, near or far."
    abilities = ("fill",)
    kind = "encoder-only"
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 64, "positions": "learned", "activation": "gelu"}
    training = {"steps": 1000, "batch_size": 48, "learning_rate": 4e-3}
    source: str = option(GRAMMAR, "a text by name", choices=TEXT_SOURCES)
    file: str = option("", "a text file instead", file=TEXT_ENDINGS)
    vocabulary: int = option(800, "words and parts of words", low=100, high=MAX_VOCABULARY)
    length: int = option(32, "tokens that are read at once", low=8, high=512)

    def required_sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer), "max_len": self.length, "pad_id": PAD}

    def count(self, split: Split) -> int:
        return len(self._examples[split])

    def widths(self, split: Split, numbers: Sequence[int]) -> list[int]:
        """Tokens."""
        return [len(self._examples[split][at]) for at in numbers]

    def numbered(self, split: Split, numbers: Sequence[int], generator: torch.Generator) -> Batch:
        """Sentences of one part of the text with words hidden."""
        seed, n_tokens, rows = random_of(generator).getrandbits(62), len(self.tokenizer), []
        for number in numbers:
            ids = [CLS, *self._examples[split][number][: self.length - 2], SEP]
            rows.append(hide(ids, random.Random(seed + number), n_tokens))
        inputs, targets = zip(*rows, strict=True)
        return Batch((pad_rows(inputs, PAD),), pad_rows(targets, IGNORED))

    def sketch(self, size: int) -> Batch:
        """A batch of held-out sentences, which are a tenth as many."""
        return self.batch(generator_of(0, 0), size, held_out=True)

    def scores_of(self, at: Answers, batch: Batch) -> dict[str, Quotients]:
        """The share of hidden words that the model gets right."""
        return {"hidden words": at.shares()}

    def probe(self) -> Reading:
        return self.read(self._probe_text)

    def read(self, text: str) -> Reading:
        """Words, among them [MASK] for hidden ones; a typed [SEP] ends a first sentence."""
        ids = [CLS]
        for part in _TYPED.split(text):
            typed = part.upper()
            ids += [SPECIALS.index(typed)] if typed in SPECIALS else self.tokenizer.encode(part)
        if len(ids) == 1:
            raise ValueError("the text is empty; give at least one word")
        check_room(len(ids) - 1, self.length - 2)  # without [CLS] and [SEP]
        ids.append(SEP)
        words = dict.fromkeys(_TYPED.sub(" ", text).split())
        unknown = tuple(Unknown(word) for word in words if UNK in self.tokenizer.encode(word))
        return self._reading(ids, text, unknown)

    def outputs(self) -> tuple[str, ...]:
        return self.tokenizer.labels

    def made_of(self) -> Alphabet:
        names = self.outputs()
        return Alphabet(names, range(len(SPECIALS), len(names)), {"encoder": (CLS,)}, {"encoder": (SEP,)})

    def rarity(self) -> Rarity | None:
        return self._rarity if self.source == GRAMMAR and not self.file else None

    @cached_property
    def _rarity(self) -> Rarity:
        """Of word pieces: each word has its own."""
        counts: Counter[str] = Counter()
        for word, count in kept_counts().english.items():
            for id_ in self.tokenizer.encode(word):
                counts[self.tokenizer.labels[id_]] += count
        return Rarity.counted(counts, SPECIALS, f"{COUNTED_SENTENCES:,} of its training sentences")

    def written(self, ids: Sequence[int]) -> str:
        return self.tokenizer.decode(ids)

    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """Held-out sentences with words hidden, and the words that the model puts there."""
        batch = self.batch(torch.Generator().manual_seed(0), 4, held_out=True)
        with torch.no_grad():
            best = model(batch.inputs[0].to(model.embedding.weight.device)).argmax(dim=-1).cpu()
        samples = []
        for ids, words, targets in zip(batch.inputs[0], best, batch.targets, strict=True):
            fillings = (torch.tensor(MASK), words, targets)
            rows = (torch.where(targets != IGNORED, filling, ids).tolist() for filling in fillings)
            prompt, filled, right = map(self._text, rows)
            samples.append(Sample(prompt, filled, right))
        return samples

    def learnt(self) -> dict[str, Any]:
        """The tokenizer, and the sentence that is watched."""
        return {"tokenizer": self.tokenizer.to_json(), "shown": self._probe_text}

    def restore(self, learnt: dict[str, Any]) -> None:
        """Raises ValueError for what is no tokenizer, or no sentence to watch."""
        sentence = learnt_value(learnt, "shown", str)
        tokenizer = LearntTokenizer.from_json(learnt.get("tokenizer"), SPECIALS)
        self.__dict__.update(tokenizer=tokenizer, _probe_text=sentence)

    @cached_property
    def tokenizer(self) -> LearntTokenizer:
        """Word pieces of what is trained on."""
        learnt_from = self.sentences("training")[:_LEARN_FROM]
        return LearntTokenizer.wordpiece(learnt_from, self.vocabulary, specials=SPECIALS, unknown_id=UNK)

    def sentences(self, split: Split) -> list[str]:
        """Those of a part of the text."""
        tested, encoding = self.splits == THREE, self.how.encoding
        return sentences_of(self.source, self.file, split, tested=tested, encoding=encoding)

    @cached_property
    def _examples(self) -> PartsOnDemand[list[int]]:
        """The ids of sentences, no longer than what is read at once; those not trained on, once each."""

        def encoded(split: Split) -> list[list[int]]:
            texts = self.sentences(split)
            texts = texts if split == "training" else list(dict.fromkeys(texts))
            return [self.tokenizer.encode(text)[: self.length] for text in texts]

        return PartsOnDemand(encoded)

    @cached_property
    def _probe_text(self) -> str:
        if self.source == GRAMMAR and not self.file:
            return _SHOWN
        words = self.sentences("held out")[0].split()[: self.length // 4]
        room = min(self.length, _MOST_PROBED) - 2
        while len(words) > 1 and len(self.tokenizer.encode(" ".join(words))) > room:
            words.pop()
        words[len(words) // 2] = SPECIALS[MASK]
        return " ".join(words)

    def _reading(self, ids: list[int], text: str, unknown: tuple[Unknown, ...]) -> Reading:
        labels = [self.tokenizer.labels[id_] for id_ in ids]
        return Reading((torch.tensor([ids]),), {"encoder": labels}, text, unknown=unknown)

    def _text(self, ids: list[int]) -> str:
        """As one would type it: [MASK] and the [SEP] between sentences stay, what is added does not."""
        shown = [id_ for id_ in ids if id_ not in (PAD, CLS)][:-1]
        parts = []
        for signs, run in groupby(shown, key=lambda id_: id_ in (MASK, SEP)):
            ids = list(run)
            parts += [SPECIALS[id_] for id_ in ids] if signs else [self.tokenizer.decode(ids)]
        return " ".join(filter(None, parts))


def hide(ids: list[int], rng: random.Random, n_tokens: int) -> tuple[list[int], list[int]]:
    """What is read, and what is asked at each position (mostly IGNORED): 15% of the words, at least one."""
    words = [at for at, id_ in enumerate(ids) if id_ >= len(SPECIALS) or id_ == UNK]
    read, targets = list(ids), [IGNORED] * len(ids)
    for at in rng.sample(words, min(len(words), max(1, round(MASKED_SHARE * len(words))))):
        targets[at] = ids[at]
        chance = rng.random()
        if chance < 0.8:
            read[at] = MASK
        elif chance < 0.9:
            read[at] = rng.randrange(len(SPECIALS), n_tokens)
    return read, targets
