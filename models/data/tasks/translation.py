"""Defines translation of the shipped grammar, whose models are also asked what each pronoun means."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ...engine.trace import Trace
from ...engine.transformer import Transformer
from ..grammar import sample_pairs, showcase
from ..grammar.annotations import word_links
from ..grammar.pairs import COUNTED_SENTENCES, Vocabulary, kept_counts, kept_vocabulary
from ..grammar.sentences import Direction
from ..word_tokenizer import BOS, EOS, PRONOUNS, SPECIALS, TO_FRENCH, Encoded, WordTokenizer
from .algorithmic import random_of
from .batch import (
    IGNORED,
    Advice,
    Aligned,
    Antecedent,
    Batch,
    Judgement,
    Rarity,
    Reading,
    Sample,
    answers_at,
    check_room,
)
from .sentence_pairs import (
    NOTHING_NAMED,
    Pairs,
    check_direction,
    first_token,
    grammar_batches,
    grammar_row,
    make_batch,
)
from .task import learnt_value, option

NAMES = {"en": "English", "fr": "French"}


def words_of(vocabulary: Vocabulary, language: str) -> Sequence[str]:
    """All known words of a language, "en" or "fr"."""
    return {"en": vocabulary.english, "fr": vocabulary.french}[language]


def direction_of(vocabulary: Vocabulary, words: Sequence[str]) -> Direction:
    """The direction is from French if more of the words are only French than only English."""
    return "fr-en" if _only(vocabulary, words, "fr") > _only(vocabulary, words, "en") else "en-fr"


def advice(vocabulary: Vocabulary, words: Sequence[str], direction: str) -> Advice | None:
    """The other direction, where more of the words are of its language alone than of the one that is read."""
    read, written = direction.split("-")
    there, here = _only(vocabulary, words, written), _only(vocabulary, words, read)
    if there <= here:
        return None
    because = f"{there} of these words are known in {NAMES[written]} only, {here} in {NAMES[read]} only."
    return Advice("direction", f"{written}-{read}", because)


def _only(vocabulary: Vocabulary, words: Sequence[str], language: str) -> int:
    """How many words are known in this language and not in the other one."""
    other = "fr" if language == "en" else "en"
    known = set(words_of(vocabulary, language)) - set(words_of(vocabulary, other))
    return sum(word.lower() in known for word in words)


_SAMPLES = 4
_CROSSING = "In cross-attention, a row (read → written next) looks at the word that it translates"


@dataclass(frozen=True, kw_only=True)
class Translation(Pairs):
    """The model translates English and French of the shipped grammar, in both directions.

    Its pronouns are asked for the nouns they mean, `antecedent_weight` times as loudly as the translation.
    """

    name = "translation"
    title = "Translation"
    see = f"{_CROSSING}; in the encoder, a pronoun looks at the noun it means."
    antecedent_weight: float = option(0.5, "of naming what pronouns mean", low=0.0, high=10.0)

    @property
    def hint(self) -> str:
        """Only a model that has to name nouns looks at them from pronouns."""
        return self.see if self.antecedent_weight else f"{_CROSSING}."

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        rng = random_of(generator)
        seed = rng.randrange(1 << 62)
        pairs = islice(sample_pairs(seed, "held out" if held_out else "training"), size)
        return make_batch([grammar_row(self.words, pair, rng.choice(pair.directions)) for pair in pairs])

    def batches(self, seed: int, size: int, start: int = 0) -> Iterator[Batch]:
        """The sentences of one stream, like lengths together, as the shipped translator had them. To go on
        from a step, the sentences before are drawn again.
        """
        return map(make_batch, grammar_batches(self.words, size, seed, start))

    def losses(self, model: Transformer, batch: Batch, *, label_smoothing: float = 0.0) -> dict[str, Tensor]:
        """Mean cross-entropies in nats: "translation" per target word, "antecedent" per source pronoun, and
        "loss", the first and `antecedent_weight` of the second.

        The second reads the encoder's output at each pronoun through the model's own output layer: the vector
        there has to name the noun that the pronoun means. It adds no parameter.
        """
        source, target = batch.inputs
        memory = model.encode(source)
        translation = self._loss(model, memory, source, target, batch, label_smoothing)
        named = batch.extra["named"]
        pronouns, antecedent = named != NOTHING_NAMED, translation.new_zeros(())
        if source.device.type != "cpu":  # to count pronouns would wait for the device
            logits, several = model.unembed(memory).float().flatten(0, 1), pronouns.sum().clamp(min=1)
            antecedent = cross_entropy(logits, named.flatten(), reduction="sum") / several
        elif bool(pronouns.any()):
            logits = model.unembed(memory[pronouns]).float()  # [pronoun, vocab]
            antecedent = cross_entropy(logits, named[pronouns])
        loss = translation + self.antecedent_weight * antecedent
        return {"loss": loss, "translation": translation, "antecedent": antecedent}

    def terms(self, batch: Batch) -> dict[str, tuple[float, int]]:
        n_named = int((batch.extra["named"] != NOTHING_NAMED).sum())
        return {"translation": (1.0, batch.n_asked), "antecedent": (self.antecedent_weight, n_named)}

    @torch.no_grad()
    def judged(self, model: Transformer, batch: Batch) -> Judgement:
        """Shares of sentences that are right throughout, of pronouns whose noun is named, and of tokens."""
        source, target = batch.inputs
        memory, written = model.encode(source), batch.targets != IGNORED
        logits = model.decode(target, memory, source, positions=written)
        at = answers_at(logits, batch.targets[written], batch)
        pronouns, places = replace(batch, targets=batch.extra["named"]), batch.extra["named"] != NOTHING_NAMED
        nouns = answers_at(model.unembed(memory[places]), pronouns.targets[places], pronouns)
        scores = {"whole sentences": at.whole(), "antecedents": nouns.shares(), "tokens right": at.shares()}
        return Judgement({"translation": at.loss(), "antecedent": nouns.loss()}, scores)

    def probe(self) -> Reading:
        """The animal that did not cross the street, translated."""
        row = grammar_row(self.words, showcase(), "en-fr")
        return self._reading(" ".join(showcase().english), row.source, row.target)

    def read(self, text: str, *, direction: str = "") -> Reading:
        chosen = direction or direction_of(self._vocabulary, self.words.encode(text, among=()).tokens)
        source = self.encode_source(text, direction=chosen)
        reading = self._reading(text, source.ids, [])
        tokens = {**reading.tokens, "encoder": source.tokens}
        better = advice(self._vocabulary, source.tokens, chosen)
        return replace(reading, tokens=tokens, unknown=tuple(source.unknown), advice=better)

    @property
    def max_words(self) -> int:
        """The longest text that a model reads or writes, in words."""
        return self.length - 2

    def encode_source(self, text: str, *, direction: str = "en-fr") -> Encoded:
        """What the encoder reads: <2fr> or <2en>, the words, <eos>; special words' spans are empty.

        Raises ValueError for an unknown direction, a text without words, and more than `max_words`.
        """
        first = first_token(check_direction(direction))
        words = self._encode(text, words_of(self._vocabulary, direction[:2]))
        if not words.ids:
            raise ValueError("the text is empty; give at least one word")
        return Encoded(
            [first, *words.ids, EOS],
            [SPECIALS[first], *words.tokens, SPECIALS[EOS]],
            [(0, 0), *words.spans, (len(text), len(text))],
            words.unknown,
        )

    @torch.no_grad()
    def antecedents(self, model: Transformer, trace: Trace) -> list[Antecedent] | None:
        """For each third-person pronoun of the source, the noun that the encoder's output there names; None
        for a model that was never asked.

        Reads `encoder.norm` through the output layer; raises KeyError if a `reduce` did not keep it.
        """
        if not self.antecedent_weight:
            return None
        tokens = trace.tokens["encoder"]
        ids = [self.words.id(token) for token in tokens]
        nouns = []
        for position, token in enumerate(tokens):
            if token not in PRONOUNS:
                continue
            probabilities = model.unembed(trace["encoder.norm"][position]).softmax(dim=-1)
            best = int(probabilities.argmax())
            place = ids.index(best) if best in ids and best != ids[position] else None
            word = self.words.vocabulary[best] if place is None else tokens[place]
            nouns.append(Antecedent(position, word, probabilities[best].item(), place))
        return nouns

    def alignments(self, reading: Reading) -> list[Aligned] | None:
        """As the grammar aligns both languages; <eos> and words that it does not know have no counterpart."""
        read, written = reading.tokens["encoder"], reading.tokens["decoder"][1:]  # without <bos>
        words = read[1 : read.index(SPECIALS[EOS])]
        if int(reading.inputs[0][0, 0]) == TO_FRENCH:
            links = [(french, english, sure) for english, french, sure in word_links(words, written)]
        else:
            links = [(english, french, sure) for english, french, sure in word_links(written, words)]
        # the decoder's position n, after <bos> and n words, writes the word n; the source has <2fr> in front
        return [Aligned(n, word + 1, sure) for n, word, sure in links] or None

    def outputs(self) -> tuple[str, ...]:
        return tuple(self.words.vocabulary)

    def rarity(self) -> Rarity:
        counts = kept_counts()
        both = Counter(counts.english) + Counter(counts.french)
        return Rarity.counted(both, SPECIALS, f"{COUNTED_SENTENCES:,} pairs of its training sentences")

    def written(self, ids: Sequence[int]) -> str:
        return self.words.decode(ids)

    def spoken(self, ids: Sequence[int], first: int) -> str:
        return self.words.decode(ids, language="fr" if first == TO_FRENCH else "en")

    @torch.no_grad()
    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """Held-out sentences, and what the model makes of them."""
        samples = []
        for pair in (showcase(), showcase("wide"), *islice(sample_pairs(1, "held out"), _SAMPLES - 2)):
            direction = pair.directions[0]
            row = grammar_row(self.words, pair, direction)
            text = " ".join(pair.source(direction))
            translation = self.answered(model, self._reading(text, row.source, [])).answer
            samples.append(Sample(text, translation, self.spoken(row.target, first_token(direction))))
        return samples

    def learnt(self) -> dict[str, Any]:
        """The words of the grammar."""
        return {"words": self._vocabulary._asdict()}

    def restore(self, learnt: dict[str, Any]) -> None:
        """Raises ValueError for what `learnt` did not return."""
        self.__dict__["_vocabulary"] = learnt_value(learnt, "words", Vocabulary)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return kept_vocabulary()

    @cached_property
    def words(self) -> WordTokenizer:
        """The tokenizer of both languages."""
        return WordTokenizer(self._vocabulary.words)

    def forced(self, reading: Reading, target: str) -> Reading:
        """What the translation has of unknown words is shown as it was typed."""
        writes = "fr" if int(reading.inputs[0][0, 0]) == TO_FRENCH else "en"
        words = self._encode(target, words_of(self._vocabulary, writes))
        unknown = (*reading.unknown, *(replace(word, where="target") for word in words.unknown))
        forced = self._with_target(reading, [*words.ids, EOS])
        tokens = {**forced.tokens, "decoder": [SPECIALS[BOS], *words.tokens]}
        return replace(forced, tokens=tokens, unknown=unknown, answer=target, forced=True)

    def _encode(self, text: str, among: Sequence[str]) -> Encoded:
        words = self.words.encode(text, among=among)
        check_room(len(words.ids), self.max_words, "words")
        return words
