"""The translation task: batches of sentence pairs, and a loss that also asks what each pronoun means."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from models.data.grammar import Pair, sample_pairs
from models.data.grammar.simple import Direction
from models.data.pronouns import PRONOUNS
from models.data.tokenizers import BOS, EOS, PAD, SPECIALS, TO_ENGLISH, TO_FRENCH, UNK, WordTokenizer
from models.engine.transformer import Transformer

UNKNOWN_SHARE = 0.05
NOTHING_NAMED = -100  # cross_entropy's ignore_index


@dataclass(frozen=True)
class Batch:
    """Sentences padded to one length. `named` holds, at each source pronoun, the id of the noun it means."""

    source: Int[Tensor, "batch source"]
    target: Int[Tensor, "batch target"]
    following: Int[Tensor, "batch target"]
    named: Int[Tensor, "batch source"]

    @property
    def n_tokens(self) -> int:
        return int((self.source != PAD).sum() + (self.following != PAD).sum())


def source_ids(tokenizer: WordTokenizer, words: Sequence[str], direction: Direction) -> list[int]:
    """What the encoder reads: the language to write in, the words, <eos>."""
    return [first_token(direction), *map(tokenizer.id, words), EOS]


def first_token(direction: Direction) -> int:
    return TO_FRENCH if direction == "en-fr" else TO_ENGLISH


def make_batch(tokenizer: WordTokenizer, examples: Sequence[tuple[Pair, Direction]]) -> Batch:
    sources = [source_ids(tokenizer, pair.source(direction), direction) for pair, direction in examples]
    targets = [list(map(tokenizer.id, pair.target(direction))) for pair, direction in examples]
    pronouns = {tokenizer.id(word) for word in PRONOUNS if word in tokenizer}
    named = []
    for (pair, direction), ids in zip(examples, sources, strict=True):
        # a pronoun without an antecedent in its sentence names itself
        names = [id_ if id_ in pronouns else NOTHING_NAMED for id_ in ids]
        if mention := pair.mention(direction):
            names[mention.pronoun + 1] = ids[mention.antecedent + 1]
        named.append(names)
    return Batch(
        _padded(sources, PAD),
        _padded([[BOS, *ids] for ids in targets], PAD),
        _padded([[*ids, EOS] for ids in targets], PAD),
        _padded(named, NOTHING_NAMED),
    )


def _padded(rows: list[list[int]], filler: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [filler] * (longest - len(row)) for row in rows])


_POOL = 16  # batches drawn together and sorted by length, so that little is padding


def batches(tokenizer: WordTokenizer, batch_size: int, seed: int) -> Iterator[Batch]:
    """Endless training batches, always the same for a seed; both directions, like lengths together."""
    pairs = sample_pairs(seed, "training")
    rng = random.Random(seed)
    while True:
        drawn = [_maybe_unknown(pair, rng) for pair in islice(pairs, _POOL * batch_size)]
        pool = [(pair, rng.choice(pair.directions)) for pair in drawn]
        pool.sort(key=lambda example: len(example[0].english) + len(example[0].french))
        starts = list(range(0, len(pool), batch_size))
        rng.shuffle(starts)
        for start in starts:
            yield make_batch(tokenizer, pool[start : start + batch_size])


def _maybe_unknown(pair: Pair, rng: random.Random) -> Pair:
    """Now and then hides one noun behind <unk> on both sides, so that unknown words do little harm."""
    if pair.english_mention is None or pair.french_mention is None or rng.random() >= UNKNOWN_SHARE:
        return pair
    role = rng.choice(("antecedent", "rival"))
    english, french = list(pair.english), list(pair.french)
    english[getattr(pair.english_mention, role)] = SPECIALS[UNK]
    french[getattr(pair.french_mention, role)] = SPECIALS[UNK]
    return replace(pair, english=tuple(english), french=tuple(french))


def losses(model: Transformer, batch: Batch) -> dict[str, Float[Tensor, ""]]:
    """Mean cross-entropies in nats: "translation" per target word, "antecedent" per source pronoun.

    The second reads the encoder's output at each pronoun through the model's own output layer: the vector
    there has to name the noun that the pronoun means. It adds no parameter.
    """
    memory = model.encode(batch.source)
    logits = model.decode(batch.target, memory, batch.source)
    translation = cross_entropy(logits.flatten(0, 1), batch.following.flatten(), ignore_index=PAD)
    asked = batch.named != NOTHING_NAMED
    if not bool(asked.any()):
        return {"translation": translation, "antecedent": translation.new_zeros(())}
    named = model.unembed(memory[asked])  # [pronoun, vocab]
    return {"translation": translation, "antecedent": cross_entropy(named, batch.named[asked])}
