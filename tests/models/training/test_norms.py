"""The norms of a model's parts are those of a float64 loop, before clipping and after the step."""

import math

import pytest

from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.training.config import TrainingConfig
from attention_lab.models.training.loop import Training
from tests.models.training.small import config


@pytest.mark.parametrize("task", ["reverse", "translation"])
def test_a_record_has_the_norms_of_each_part(task):
    run = config({"n_layers": 2, "positions": "learned"}, task=task, steps=1, clip=0.01)
    training = Training(run)
    model, smoothing = Transformer(run.model, seed=0), run.training.label_smoothing
    record = next(training)
    run.task.losses(model, next(run.task.batches(0, 4)), label_smoothing=smoothing)["loss"].backward()
    wanted: dict[str, float] = {}
    for name, weight in model.named_parameters():
        part = name.replace("layers.", "", 1).split(".")
        part = ".".join(part[: 1 if part[0] not in ("encoder", "decoder") else 2])
        wanted[part] = wanted.get(part, 0.0) + float((weight.grad.double() ** 2).sum())
    assert list(record.norms) == list(wanted)
    assert "decoder.1" in wanted and "decoder.norm" in wanted and "embedding" in wanted
    for part, square in wanted.items():
        assert record.norms[part][0] == pytest.approx(math.sqrt(square), rel=1e-4)
    squares = [gradient**2 for gradient, _ in record.norms.values()]
    assert math.sqrt(sum(squares)) == pytest.approx(record.gradient_norm, rel=1e-5)
    after = sum(float((weight.detach().double() ** 2).sum()) for weight in training.model.parameters())
    assert sum(weight**2 for _, weight in record.norms.values()) == pytest.approx(after, rel=1e-4)


def test_norms_are_taken_at_most_250_times_beside_validations(monkeypatch):
    assert TrainingConfig(steps=600).norms_interval == 3
    monkeypatch.setattr(TrainingConfig, "norms_interval", 3)
    training = Training(config(steps=8, validate_every=5))
    assert [record.step for record in training if record.norms] == [3, 5, 6, 8]
