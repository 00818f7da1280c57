"""Weight decay reaches the weights that it is said to, and the optimiser's state keeps its names."""

import json
from dataclasses import replace

import pytest
import torch

from models.runs.folder import create_run
from models.training.config import TrainingConfig
from models.training.loop import Training
from models.training.optimizers import decays
from tests.models.training.small import config

FREE = ("bias", "norm.weight", "positions.u", "positions.v")
"""Ends of the names of weights that do not decay: those of norms, biases, and Transformer-XL's u and v."""


@pytest.mark.parametrize("scheme", ["learned", "t5", "transformer-xl"])
@pytest.mark.parametrize("decay", ["matrices", "all"])
def test_decay_draws_matrices_alone_unless_all_are_named(scheme, decay):
    sizes = {"positions": scheme, "n_layers": 2}
    rate, strength = 0.01, 0.5
    how = {"steps": 1, "learning_rate": rate, "warmup_steps": 0, "schedule": "constant", "decay": decay}
    with_decay, without = (Training(config(sizes, **how, weight_decay=w)) for w in (strength, 0.0))
    before = {name: weight.detach().clone() for name, weight in without.model.named_parameters()}
    next(with_decay), next(without)
    others = dict(without.model.named_parameters())
    for name, weight in with_decay.model.named_parameters():
        # Decoupled decay: w - rate * strength * w, and then Adam's step, which is that of the undecayed.
        share = 0.0 if decay == "matrices" and name.endswith(FREE) else rate * strength
        torch.testing.assert_close(weight, others[name] - share * before[name], rtol=1e-5, atol=1e-7)
        assert decays(name, weight) != name.endswith(FREE)


def test_a_state_comes_back_to_the_weights_of_its_names_in_either_order_of_groups():
    one = Training(config(decay="all"))
    for _ in range(3):
        next(one)
    tensors, values = one.state()
    other = Training(config(decay="matrices"))
    other.load_state(tensors, values)
    again, _ = other.state()
    assert all(torch.equal(again[name], tensor) for name, tensor in tensors.items())


def test_a_file_from_before_the_field_decays_all_weights(tmp_path):
    run = config()
    assert run.training.decay == "matrices"
    folder = create_run(run, path=tmp_path / "old")
    path = folder.path / "config.json"
    said = json.loads(path.read_text())
    assert said["training"].pop("decay") == "matrices"
    path.write_text(json.dumps(said))
    assert folder.config().training == replace(run.training, decay="all")
    assert TrainingConfig.from_dict({}).decay == "matrices"


def test_all_is_pytorchs_own_order_to_the_bit():
    run = config(decay="all", weight_decay=0.3)
    training = Training(run)
    plain = Training(run)
    plain._optimizer = torch.optim.AdamW(
        plain.model.parameters(), lr=1e-3, betas=(0.9, 0.98), weight_decay=0.3, fused=True
    )
    for one, other in zip(training, plain, strict=True):
        assert one.losses == other.losses and one.gradient_norm == other.gradient_norm
