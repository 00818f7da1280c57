"""Who notices a shuffle: not the model without positions, unless a causal mask tells it the order."""

import pytest
import torch

from attention_lab.pages.lab.positions.inputs import alike
from attention_lab.pages.lab.positions.order import (
    movement,
    outputs,
    shuffled,
)

SHUFFLE = shuffled(14, 0)


@pytest.fixture
def config(suite):
    return suite["none"].model.config


def test_movement_compares_each_word_with_itself(config):
    model = alike(config, 0)["sinusoidal"]
    ids = torch.arange(20, 34)
    before, after = outputs(model, ids), outputs(model, ids[SHUFFLE])
    found = movement(model, ids, SHUFFLE)
    for new, old in enumerate(SHUFFLE.tolist()):
        distance = (
            sum((a - b) ** 2 for a, b in zip(after[new].tolist(), before[old].tolist(), strict=True)) ** 0.5
        )
        length = sum(b**2 for b in before[old].tolist()) ** 0.5
        assert found[new].item() == pytest.approx(distance / length, rel=1e-4)


def test_outputs_are_what_the_logits_are_read_from(config):
    model = alike(config, 0)["rotary"]
    ids = torch.arange(20, 34)
    with torch.no_grad():
        torch.testing.assert_close(model.unembed(outputs(model, ids)), model(ids[None])[0])
