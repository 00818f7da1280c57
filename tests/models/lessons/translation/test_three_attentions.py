"""The three attentions, computed again by hand."""

import math

import pytest
import torch

from models.lessons.translation import three_attentions
from models.lessons.translation.reading import Reading
from models.zoo.engine_model import Translator
from tests.models.lessons.translation.conftest import TIRED


@pytest.mark.parametrize("use", three_attentions.USES, ids=lambda use: use.name)
@pytest.mark.parametrize("layer", [0, 1])
def test_patterns_are_the_models(tired: Reading, use: three_attentions.Use, layer: int):
    pattern, may = three_attentions.pattern(three_attentions.vectors(tired.trace, use, layer), use)
    expected = tired.trace[f"{use.address.format(layer=layer)}.pattern"]
    torch.testing.assert_close(pattern, expected, rtol=1e-4, atol=1e-5)
    assert bool((pattern.masked_select(~may) == 0).all())
    assert bool(may.all()) == (not use.is_causal)


def test_a_plain_loop_gives_the_same(tired: Reading):
    """Masked self-attention in float64, one number at a time."""
    use = three_attentions.USES[1]
    q, k, _ = (part.double() for part in three_attentions.vectors(tired.trace, use, 1))
    pattern, _ = three_attentions.pattern(three_attentions.vectors(tired.trace, use, 1), use)
    for query in range(q.shape[1]):
        powers = [
            math.exp(sum(a * b for a, b in zip(q[2, query].tolist(), k[2, key].tolist(), strict=True)) / 4)
            for key in range(query + 1)
        ]
        for key, power in enumerate(powers):
            assert pattern[2, query, key].item() == pytest.approx(power / sum(powers), rel=1e-4, abs=1e-6)


def test_keys_and_values_of_cross_attention_are_made_of_the_memory(translator: Translator, tired: Reading):
    trace = translator.trace(TIRED)
    attention = translator.model.decoder.layers[1].cross_attention
    made = three_attentions.vectors(tired.trace, three_attentions.USES[2], 1)
    with torch.no_grad():
        for linear, found in ((attention.k_proj, made.k), (attention.v_proj, made.v)):
            expected = linear(trace["encoder.norm"]).unflatten(1, (4, 16)).transpose(0, 1)
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert made.q.shape[1] == len(tired.read) and made.k.shape[1] == len(tired.source)
