"""The translator's batches hold the words and ask each pronoun for the right noun."""

from itertools import islice

import pytest
import torch

from models.config import ModelConfig
from models.data.corpus import build_vocabulary
from models.data.grammar import sample_pairs, showcase
from models.data.tokenizers import BOS, EOS, PAD, TO_ENGLISH, TO_FRENCH, UNK, WordTokenizer
from models.engine.transformer import Transformer
from models.training.translation import NOTHING_NAMED, batches, losses, make_batch

WORDS = tuple(build_vocabulary(3_000).words)
TOKENIZER = WordTokenizer(WORDS)
SMALL = ModelConfig(
    kind="encoder-decoder", n_layers=1, n_heads=2, d_model=32, vocab_size=len(WORDS), max_len=64
)


def test_a_batch_holds_the_words_and_asks_the_pronoun_for_its_noun():
    pair = showcase("wide")
    batch = make_batch(TOKENIZER, [(pair, "en-fr"), (pair, "fr-en")])
    source = [TOKENIZER.id(word) for word in pair.english]
    target = [TOKENIZER.id(word) for word in pair.french]
    assert batch.source[0, : len(source) + 2].tolist() == [TO_FRENCH, *source, EOS]
    assert batch.source[1, 0] == TO_ENGLISH
    assert batch.target[0].tolist() == [BOS, *target]
    assert batch.following[0].tolist() == [*target, EOS]
    assert (batch.following[1] != PAD).sum() == len(source) + 1
    for row, (pronoun, noun) in enumerate((("it", "street"), ("elle", "rue"))):
        asked = (batch.named[row] != NOTHING_NAMED).nonzero().flatten().tolist()
        assert asked == [batch.source[row].tolist().index(TOKENIZER.id(pronoun))]
        assert batch.named[row, asked[0]] == TOKENIZER.id(noun)


def test_a_pronoun_without_antecedent_names_itself():
    pair = next(p for p in sample_pairs(0, "training") if p.pattern == "there is")
    batch = make_batch(TOKENIZER, [(pair, "fr-en")])
    assert batch.source[0, 1] == batch.named[0, 1] == TOKENIZER.id("il")


def test_batches_come_from_training_alone_in_both_directions():
    seen = list(islice(batches(TOKENIZER, 32, seed=0), 6))
    firsts = {first for batch in seen for first in batch.source[:, 0].tolist()}
    assert firsts == {TO_FRENCH, TO_ENGLISH}
    padding = [(batch.source == PAD).float().mean() for batch in seen]
    assert max(padding) < 0.3


def test_some_nouns_are_hidden_on_both_sides():
    unknown = [batch for batch in islice(batches(TOKENIZER, 64, seed=0), 8) if (batch.source == UNK).any()]
    assert unknown
    for batch in unknown:
        rows = (batch.source == UNK).sum(1), (batch.following == UNK).sum(1)
        assert torch.equal(*rows)
        assert max(rows[0]) == 1
        assert set(batch.named[batch.named == UNK].tolist()) <= {UNK}


def test_the_losses_are_the_mean_cross_entropies_of_words_and_of_names():
    pairs = [(pair, "en-fr") for pair in islice(sample_pairs(5, "training", pronouns=1.0), 4)]
    batch = make_batch(TOKENIZER, [(pair, way) for pair, way in pairs if way in pair.directions])
    model = Transformer(SMALL, seed=0).eval()
    found = losses(model, batch)
    with torch.no_grad():
        log_probs = model(batch.source, batch.target).log_softmax(-1)
        named = model.unembed(model.encode(batch.source)).log_softmax(-1)
    words = [
        -log_probs[row, at, id_].item()
        for row, ids in enumerate(batch.following.tolist())
        for at, id_ in enumerate(ids)
        if id_ != PAD
    ]
    names = [
        -named[row, at, id_].item()
        for row, ids in enumerate(batch.named.tolist())
        for at, id_ in enumerate(ids)
        if id_ != NOTHING_NAMED
    ]
    assert found["translation"].item() == pytest.approx(sum(words) / len(words), rel=1e-5)
    assert found["antecedent"].item() == pytest.approx(sum(names) / len(names), rel=1e-5)
