"""Weights that are the same under every scheme, and what a shuffle moves, against plain loops."""

import math

import pytest
import torch

from attention_lab.pages.lab.positions.inputs import SCHEMES, alike, difference, patterns_of
from attention_lab.pages.lab.positions.order import movement, outputs, shuffled

SHUFFLE = shuffled(14, 0)


def test_only_positions_differ(suite):
    models = alike(suite["none"].model.config, 3)
    assert tuple(models) == SCHEMES
    plain = models["none"].state_dict()
    for scheme, model in models.items():
        weights = model.state_dict()
        assert all(torch.equal(value, weights[name]) for name, value in plain.items())
        assert all(name in plain or ".positions." in name for name in weights)
        assert model.config.positions == scheme
    other = alike(suite["none"].model.config, 4)["none"].state_dict()
    assert not torch.equal(other["embedding.weight"], plain["embedding.weight"])


def test_in_the_first_layer_none_gives_equal_words_equal_weights(suite, ids):
    """Without positions, the two "the" of the sentence cannot be told apart."""
    first, second = (i for i, id_ in enumerate(ids) if suite["none"].outputs[id_] == "the")
    found = patterns_of({scheme: lm.model for scheme, lm in suite.items()}, ids, 0)
    apart = (found[:, :, second:, first] - found[:, :, second:, second]).abs().amax(dim=(1, 2))
    assert apart[0] < 1e-12
    assert (apart[1:] > 1e-3).all()


def test_difference_is_half_the_sum_of_absolute_differences():
    pattern = torch.softmax(torch.randn(3, 2, 4, 4, generator=torch.Generator().manual_seed(0)), dim=-1)
    found = difference(pattern)
    for scheme in range(3):
        for head in range(2):
            rows = [
                0.5 * sum(abs(a - b) for a, b in zip(row, first, strict=True))
                for row, first in zip(pattern[scheme, head].tolist(), pattern[0, head].tolist(), strict=True)
            ]
            assert math.isclose(found[scheme, head].item(), sum(rows) / 4, abs_tol=1e-6)


def test_movement_compares_each_word_with_itself(suite):
    model = alike(suite["none"].model.config, 0)["sinusoidal"]
    ids = torch.arange(20, 34)
    before, after = outputs(model, ids), outputs(model, ids[SHUFFLE])
    found = movement(model, ids, SHUFFLE)
    for new, old in enumerate(SHUFFLE.tolist()):
        distance = (
            sum((a - b) ** 2 for a, b in zip(after[new].tolist(), before[old].tolist(), strict=True)) ** 0.5
        )
        length = sum(b**2 for b in before[old].tolist()) ** 0.5
        assert found[new].item() == pytest.approx(distance / length, rel=1e-4)


def test_outputs_are_what_the_logits_are_read_from(suite):
    model = alike(suite["none"].model.config, 0)["rotary"]
    ids = torch.arange(20, 34)
    with torch.no_grad():
        torch.testing.assert_close(model.unembed(outputs(model, ids)), model(ids[None])[0])
