"""Long contexts: how Transformer-XL learns with its memory, and with how much of it it is scored."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from models import ModelConfig, Transformer
from models.data.tasks import generator_of, make_task
from models.engine.transformer import in_segments


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "book.txt"
    path.write_text("to be or not to be,\nthat is the question:\nwhether 'tis nobler\n" * 60)
    return str(path)


def model_of(task) -> Transformer:
    """Two layers, whose weights are doubled, so that what is far away matters."""
    config = {**task.sizes, "d_model": 16, "n_heads": 2, **task.dictates()}
    model = Transformer(ModelConfig(kind=task.kind, **config), seed=0).double()
    with torch.no_grad():
        for weight in model.parameters():
            weight *= 2
    return model


def long_context(book, **options):
    given = {"file": book, "length": 64, "window": 16, **options}
    return make_task("long-context", given)


def test_recurrent_memory_learns_without_gradients_into_it(book):
    """The loss is that of the mask, the gradient that of segment after segment."""
    gradients = {}
    for memory in ("mask", "recurrent"):
        task = long_context(book, memory=memory)
        model = model_of(task)
        batch = task.batch(generator_of(0, 0), 2)
        loss = task.losses(model, batch)["loss"]
        loss.backward()
        gradients[memory] = loss.item(), model.embedding.weight.grad
        segment, kept = map(int, model.config.mask_argument.split("."))
    assert gradients["mask"][0] == pytest.approx(gradients["recurrent"][0], abs=1e-12)
    assert (gradients["mask"][1] - gradients["recurrent"][1]).abs().max() > 1e-4
    model.zero_grad()
    logits = in_segments(model, *batch.inputs, segment, kept)
    cross_entropy(logits.flatten(0, 1), batch.targets.flatten()).backward()
    torch.testing.assert_close(model.embedding.weight.grad, gradients["recurrent"][1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("memory", ["mask", "recurrent"])
def test_a_model_is_scored_with_the_memory_asked_for(book, memory):
    task = long_context(book, memory=memory, evaluation_memory=40)
    model, batch = model_of(task), task.batch(generator_of(0, 0), 2, held_out=True)
    segment, kept = map(int, model.config.mask_argument.split("."))
    nats = {}
    for length in (kept, 40):
        fields = {**model.config.to_dict(), "mask_argument": f"{segment}.{length}"}
        other = Transformer(ModelConfig(**fields), seed=0).double()
        other.load_state_dict(model.state_dict())
        nats[length] = cross_entropy(other(*batch.inputs).flatten(0, 1), batch.targets.flatten()).item()
    assert abs(nats[40] - nats[kept]) > 1e-4
    bits = task.score(model, batch)["bits per character"]
    assert bits == pytest.approx(nats[40] / math.log(2), abs=1e-6)
    with torch.no_grad():
        assert task.losses(model, batch)["loss"].item() == pytest.approx(nats[40], abs=1e-6)
    assert task.losses(model, batch)["loss"].item() == pytest.approx(nats[kept], abs=1e-6)
    as_trained = long_context(book, memory=memory).score(model, batch)["bits per character"]
    assert as_trained == pytest.approx(nats[kept] / math.log(2), abs=1e-6)


def test_options_of_a_memory_that_cannot_be_are_refused(book):
    sentence = "attention='fixed' has no memory; try attention='transformer-xl', or memory='mask'"
    for options in ({"memory": "recurrent"}, {"evaluation_memory": 8}):
        with pytest.raises(ValueError, match=sentence):
            long_context(book, attention="fixed", **options)
    with pytest.raises(ValueError, match="evaluation_memory=65 is longer than a piece of length=64"):
        long_context(book, evaluation_memory=65)
