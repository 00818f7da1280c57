"""The measures say what they claim, for a model that is right and for one that is not."""

import torch

from attention_lab.models.config import ModelConfig
from attention_lab.models.data.grammar import showcase
from attention_lab.models.data.grammar.pairs import held_out
from attention_lab.models.data.word_tokenizer import SPECIALS, WordTokenizer
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.training import evaluation
from attention_lab.models.training.evaluation import evaluate, pronoun_view, translations

EXAMPLES = held_out(40)
TOKENIZER = WordTokenizer(
    [
        *SPECIALS,
        *sorted({w for pair, _ in EXAMPLES for w in (*pair.english, *pair.french)} | {"it", "street"}),
    ]
)
CONFIG = ModelConfig(
    kind="encoder-decoder", n_layers=2, n_heads=3, d_model=24, vocab_size=len(TOKENIZER), max_len=64
)
UNTRAINED = Transformer(CONFIG, seed=0).eval()


def test_right_translations_are_counted_as_right(monkeypatch):
    wanted = [[TOKENIZER.id(word) for word in pair.target(way)] for pair, way in EXAMPLES]
    monkeypatch.setattr(evaluation, "translations", lambda *_: wanted)
    metrics = evaluate(UNTRAINED, TOKENIZER, EXAMPLES)
    assert metrics["translation"] == {"all": 1.0, "en-fr": 1.0, "fr-en": 1.0}
    assert metrics["pronoun"] == 1.0
    broken = [ids[:-1] for ids in wanted]
    monkeypatch.setattr(evaluation, "translations", lambda *_: broken)
    assert evaluate(UNTRAINED, TOKENIZER, EXAMPLES)["translation"]["all"] == 0.0


def test_looks_are_rows_of_the_traced_patterns():
    pair = showcase("wide")
    tokenizer = WordTokenizer([*SPECIALS, *sorted({*pair.english, *pair.french})])
    model = Transformer(ModelConfig(**{**CONFIG.to_dict(), "vocab_size": len(tokenizer)}), seed=1).eval()
    seen = pronoun_view(model, tokenizer, pair, "en-fr", pair.english_mention)
    from attention_lab.models.engine.trace import Trace

    trace = Trace()
    ids = [4, *map(tokenizer.id, pair.english), 2]
    model.encode(torch.tensor([ids]), trace=trace)
    words = ["<2fr>", *pair.english]
    row = trace["encoder.1.self.pattern"][:, words.index("it")]
    assert torch.equal(seen.antecedent[1], row[:, words.index("street")])
    assert torch.equal(seen.rival[1], row[:, words.index("animal")])


def test_batched_translations_are_those_of_single_sentences():
    together = translations(UNTRAINED, TOKENIZER, EXAMPLES[:6])
    for example, ids in zip(EXAMPLES[:6], together, strict=True):
        alone = translations(UNTRAINED, TOKENIZER, [example])[0]
        shorter = min(len(alone), len(ids))
        assert alone[:shorter] == ids[:shorter]
