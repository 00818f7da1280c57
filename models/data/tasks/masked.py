"""Masked language models: words are hidden, and read from both sides (Devlin et al. 2019)."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ...engine.transformer import Transformer
from ...limits import in_force
from ..grammar.pairs import COUNTED_SENTENCES, kept_counts
from ..learnt_tokenizer import MAX_VOCABULARY, LearntTokenizer
from ..text_files import AUTO, own_name
from ..text_sources import GRAMMAR, TEXT_ENDINGS, TEXT_SOURCES, sentences, test_sentences, texts_of
from ..word_tokenizer import Unknown
from .algorithmic import pad_rows, random_of
from .batch import (
    IGNORED,
    Alphabet,
    Batch,
    Judgement,
    Rarity,
    Reading,
    Sample,
    Split,
    answers_at,
    check_room,
    of_examples,
)
from .finite import OLD, THREE, Finite, OwnFile, PartsOnDemand
from .task import generator_of, option

# Pairs of sentences for masked language models: the second follows the first, or comes from elsewhere.

_LINKS = ("because", "so that", "even though", "although")  # words that begin a second clause
_MAX_CHARACTERS = 20_000  # of a sentence: more than any model here reads
_END = re.compile(r"(?<=[.!?])\s+|\n+")


class Passages(NamedTuple):
    """Texts of one sentence each, and pairs (first, second) of which the second follows the first."""

    singles: list[str]
    pairs: list[tuple[str, str]]


def passages_of(
    source: str, file: str, held_out: bool, *, tested: bool = False, encoding: str = AUTO
) -> Passages:
    """Sentences of a part of the text; `tested`: of a text that has a part for a test. The grammar's stand
    alone, so their pairs are two clauses of one.

    Raises ValueError for a source that is not here, a file that is no text, and fewer than 2 sentences.
    """
    if source == GRAMMAR and not file:
        return _clauses(sentences(held_out))
    text = texts_of(source, file, tested=tested, encoding=encoding)[held_out]
    singles = list(islice(_sentences(text), in_force().sentences))
    if len(singles) < 2:
        called = own_name(Path(file)) if file else source
        raise ValueError(
            f"{called!r} has {len(singles)} sentences in its {'held-out ' * held_out}part; "
            "take a longer text, with full stops or line ends"
        )
    return Passages(singles, list(pairwise(singles)))


def test_passages_of(source: str, file: str, *, encoding: str = AUTO) -> Passages:
    """Those of the test part: sentences that are neither trained on nor held out, which may be none."""
    if source == GRAMMAR and not file:
        return _clauses(test_sentences())
    most = in_force().sentences
    texts = texts_of(source, file, tested=True, encoding=encoding)
    training, held_out, test = (list(islice(_sentences(text), most)) for text in texts)
    known = {*training, *held_out}
    pairs = [pair for pair in pairwise(test) if pair[0] not in known]
    return Passages([sentence for sentence in test if sentence not in known], pairs)


def _sentences(text: str) -> Iterator[str]:
    """One after another: a file of full stops alone has millions."""
    start = 0
    for end in chain((match.span() for match in _END.finditer(text)), [(len(text), len(text))]):
        part = text[start : min(end[0], start + _MAX_CHARACTERS)].strip()
        if part:
            yield part
        start = end[1]


def _clauses(singles: list[str]) -> Passages:
    """Sentences, and in pairs those with a second clause, cut where it begins."""
    pairs = []
    for sentence in singles:
        cuts = ((*sentence.partition(f" {link} "), link) for link in _LINKS)
        pairs += [(first, f"{link} {second}") for first, _, second, link in cuts if first and second][:1]
    return Passages(singles, pairs)


PAD, UNK, CLS, SEP, MASK, NEXT, OTHER = range(7)
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[NEXT]", "[OTHER]")
MASKED_SHARE = 0.15
_TYPED = re.compile(r"(\[MASK\]|\[SEP\])", re.IGNORECASE)
_SHOWN = "the animal did not cross the [MASK] because it was too tired"
_MOST_PROBED = 64  # tokens
_LEARN_FROM = 50_000  # sentences that word pieces are counted in
_Pair = tuple[list[int], list[int]]


@dataclass(frozen=True, kw_only=True)
class Masked(OwnFile, Finite):
    """The model tells 15% of a sentence's words from the rest: 80% of these 15% are [MASK], 10% another word
    at random, 10% themselves (Devlin et al. 2019, 3.1). It reads [CLS] sentence [SEP].

    With `next_sentence`, [CLS] sentence [SEP] sentence [SEP]: at [CLS], the model says whether the second
    follows the first, as it does in half of all examples, by one of two words of its vocabulary, [NEXT] or
    [OTHER]. (The paper has an output layer of its own there; this needs none.)
    """

    name = "masked"
    title = "Masked words"
    see = "Heads look from [MASK] to both sides: to the verb of a noun, to the noun that a pronoun means."
    see_own = "Look where heads look from [MASK]: to one side or to both, to neighbours or further away."
    abilities = ("fill",)
    kind = "encoder-only"
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 64, "positions": "learned", "activation": "gelu"}
    training = {"steps": 1000, "batch_size": 48, "learning_rate": 4e-3}
    source: str = option(GRAMMAR, "a text by name", choices=TEXT_SOURCES)
    file: str = option("", "a text file instead", file=TEXT_ENDINGS)
    vocabulary: int = option(800, "words and parts of words", low=100, high=MAX_VOCABULARY)
    length: int = option(32, "tokens that are read at once", low=8, high=512)
    next_sentence: bool = option(False, "also ask whether a second sentence follows the first")

    def dictates(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer), "max_len": self.length, "pad_id": PAD}

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        """Sentences of one part of the text with words hidden; `extra["next"]` is asked at [CLS]."""
        if held_out and self.splits != OLD:
            return super().batch(generator, size, held_out=True)
        return self._hidden("held out" if held_out else "training", [None] * size, generator)

    def count(self, split: Split) -> int:
        return len(self._examples[split])

    def widths(self, split: Split, numbers: Sequence[int]) -> list[int]:
        """Tokens of both sentences."""
        return [sum(map(len, self._examples[split][at])) for at in numbers]

    def numbered(self, split: Split, numbers: Sequence[int], generator: torch.Generator) -> Batch:
        return self._hidden(split, numbers, generator)

    def _hidden(self, split: Split, numbers: Sequence[int | None], generator: torch.Generator) -> Batch:
        """Examples of a part with words hidden; None for a number is any of them."""
        any_rng = random_of(generator)
        seed = 0 if None in numbers else any_rng.getrandbits(62)
        rows, follows = [], []
        for number in numbers:
            rng = any_rng if number is None else random.Random(seed + number)
            ids, answer = self._example(rng, split, number)
            rows.append(hide(ids, rng, len(self.tokenizer)))
            follows.append(answer)
        inputs, targets = zip(*rows, strict=True)
        extra = {"next": torch.tensor(follows)} if self.next_sentence else {}
        return Batch((pad_rows(inputs, PAD),), pad_rows(targets, IGNORED), extra)

    def sketch(self, size: int) -> Batch:
        """A batch of held-out sentences, which are a tenth as many."""
        return self.batch(generator_of(0, 0), size, held_out=True)

    def losses(self, model: Transformer, batch: Batch, *, label_smoothing: float = 0.0) -> dict[str, Tensor]:
        """Cross-entropies in nats: "masked" per hidden word, "next sentence" per pair, "loss" their sum."""
        if not self.next_sentence:
            return super().losses(model, batch, label_smoothing=label_smoothing)
        logits, targets, first = self._answers_of_both(model, batch)
        masked = cross_entropy(
            logits[~first].float(), targets[~first], ignore_index=IGNORED, label_smoothing=label_smoothing
        )
        follows = cross_entropy(logits[first].float(), targets[first])
        return {"loss": masked + follows, "masked": masked, "next sentence": follows}

    def terms(self, batch: Batch) -> dict[str, tuple[float, int]]:
        if not self.next_sentence:
            return super().terms(batch)
        return {"masked": (1.0, batch.n_asked), "next sentence": (1.0, len(batch))}

    @torch.no_grad()
    def judged(self, model: Transformer, batch: Batch) -> Judgement:
        """Shares of hidden words, and of pairs of sentences, that the model gets right."""
        if not self.next_sentence:
            at = self.at(model, batch)
            return Judgement({"loss": at.loss()}, {"hidden words": at.shares()})
        logits, targets, first = self._answers_of_both(model, batch)
        words = answers_at(logits[~first], targets[~first], batch)
        follows = replace(batch, targets=batch.extra["next"][:, None])
        at = answers_at(logits[first], targets[first], follows)
        answers = (logits[first][:, [NEXT, OTHER]].argmax(dim=-1) + NEXT).cpu()
        right = of_examples(answers == follows.targets[:, 0].cpu())
        scores = {"hidden words": words.shares(), "next sentence": right}
        return Judgement({"masked": words.loss(), "next sentence": at.loss()}, scores)

    def _answers_of_both(self, model: Transformer, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """`answers` for the hidden words and, at [CLS], for the sentence; and which of them are at [CLS]."""
        at_cls = torch.zeros_like(batch.targets, dtype=torch.bool)
        at_cls[:, 0] = True
        targets = torch.where(at_cls, batch.extra["next"][:, None], batch.targets)
        logits, right = self.answers(model, replace(batch, targets=targets))
        first = at_cls.flatten() if torch.is_grad_enabled() else at_cls[targets != IGNORED]
        return logits, right, first

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

    def hidden(self, reading: Reading, position: int) -> Reading:
        """The same with the token at `position` hidden. Raises ValueError where it is no word."""
        ids = reading.inputs[0][0].tolist()
        if not 0 <= position < len(ids) or ids[position] in (CLS, SEP):
            raise ValueError(f"position={position} is no word; choose one from 1 to {len(ids) - 2}")
        ids[position] = MASK
        return self._reading(ids, self._text(ids), reading.unknown)

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
        return {"tokenizer": self.tokenizer.to_json(), "shown": self._probe_text, **self.kept_reading()}

    def restore(self, learnt: dict[str, Any]) -> None:
        """Raises ValueError for what is no tokenizer, or no sentence to watch."""
        sentence = learnt.get("shown")
        tokenizer = LearntTokenizer.from_json(learnt.get("tokenizer", {}))
        if not isinstance(sentence, str) or tokenizer.vocabulary[: len(SPECIALS)] != SPECIALS:
            raise ValueError(f"shown={sentence!r:.40} or the tokenizer is not as learnt returned it")
        self.__dict__.update(tokenizer=tokenizer, _probe_text=sentence)
        self.take_reading(learnt)

    @cached_property
    def tokenizer(self) -> LearntTokenizer:
        """Word pieces of what is trained on."""
        singles = self._passages("training").singles[:_LEARN_FROM]
        return LearntTokenizer.wordpiece(singles, self.vocabulary, specials=SPECIALS, unknown_id=UNK)

    def _passages(self, split: Split) -> Passages:
        tested, encoding = self.splits == THREE, self.how.encoding
        if split == "test":
            none = Passages([], [])
            return test_passages_of(self.source, self.file, encoding=encoding) if tested else none
        return passages_of(self.source, self.file, split == "held out", tested=tested, encoding=encoding)

    @cached_property
    def _examples(self) -> PartsOnDemand[_Pair]:
        """The ids of pairs, or of sentences and nothing, no longer than what is read at once."""

        def encoded(split: Split) -> list[_Pair]:
            passages, encode, most = self._passages(split), self.tokenizer.encode, self.length
            pairs = passages.pairs if self.next_sentence else [(text, "") for text in passages.singles]
            if self.splits != OLD and split != "training":
                pairs = list(dict.fromkeys(pairs))
            return [(encode(first)[:most], encode(second)[:most]) for first, second in pairs]

        return PartsOnDemand(encoded)

    @cached_property
    def _probe_text(self) -> str:
        if self.source == GRAMMAR and not self.file:
            return _SHOWN
        words = self._passages("held out").singles[0].split()[: self.length // 4]
        room = min(self.length, _MOST_PROBED) - 2
        while len(words) > 1 and len(self.tokenizer.encode(" ".join(words))) > room:
            words.pop()
        words[len(words) // 2] = SPECIALS[MASK]
        return " ".join(words)

    def _example(self, rng: random.Random, split: Split, number: int | None) -> tuple[list[int], int]:
        """The ids of one example, cut where too long, and whether its second sentence follows."""
        examples = self._examples[split]
        first, second = rng.choice(examples) if number is None else examples[number]
        if not self.next_sentence:
            return [CLS, *first[: self.length - 2], SEP], NEXT
        follows = rng.random() < 0.5
        if not follows:
            second = rng.choice(examples)[1]
        room = self.length - 3
        first = first[: max(room - len(second), room // 2)]
        second = second[: room - len(first)]
        return [CLS, *first, SEP, *second, SEP], NEXT if follows else OTHER

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
