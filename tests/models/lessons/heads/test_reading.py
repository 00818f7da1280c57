"""What is read of a layer is what that layer computes."""

import torch

from models.engine.trace import Trace, within
from models.lessons.heads.reading import Reading, of_translator, of_untrained, strongest
from tests.models.lessons.heads.conftest import SENTENCE, untrained


def test_the_layer_run_alone_on_x_computes_the_same(reading: Reading):
    trace = Trace()
    with torch.no_grad():
        reading.attention(reading.x[None], reading.x[None], trace=within(trace, "alone"))
    for name in ("q", "k", "v", "scores", "pattern", "z", "out"):
        torch.testing.assert_close(getattr(reading, name), trace[f"alone.{name}"], rtol=1e-5, atol=1e-6)


def test_tokens_are_the_models_own(translator):
    assert of_untrained(untrained(), "a b a").tokens == ["a", "b", "a"]
    trained = of_translator(translator, SENTENCE, 1)
    assert trained.tokens == ["<2fr>", *SENTENCE.split(), "<eos>"]
    assert trained.pattern.shape == (4, 14, 14)
    torch.testing.assert_close(
        trained.pattern, translator.trace(SENTENCE)["encoder.1.self.pattern"], rtol=0, atol=0
    )


def test_strongest_by_hand():
    assert strongest(torch.tensor([[0.2, 0.5, 0.3], [0.0, 0.25, 0.75]])) == (1, 2, 0.75)
