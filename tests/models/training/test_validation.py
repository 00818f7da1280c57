"""A validation is the mean over held-out examples, and reads and computes no more than it must."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from attention_lab.models.data.tasks import IGNORED, generator_of, make_task
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training
from tests.models.training.small import config


def test_validation_is_the_mean_over_the_same_held_out_examples():
    run = config(steps=2, validate_every=1, held_out=300, learning_rate=1e-9, warmup_steps=0)
    training = Training(run)
    batch = run.task.batch(generator_of(1, 0), 300, held_out=True)
    with torch.no_grad():
        logits = training.model(*batch.inputs).flatten(0, 1)
    wanted = cross_entropy(logits, batch.targets.flatten(), ignore_index=IGNORED).item()
    for record in training:
        assert record.validation["loss"] == pytest.approx(wanted, rel=1e-5)
        assert 0 <= record.validation["exact match"] <= 1
        assert record.samples


@pytest.fixture
def few_words(tmp_path):
    """Options of the task masked: to learn pieces of words from the whole grammar takes most of a test."""
    file = tmp_path / "fish.txt"
    file.write_text("One fish swims. Two fish swim!\nRed fish? Blue fish.\n" * 40)
    return {"file": str(file), "vocabulary": 100}


@pytest.mark.parametrize("name", ["reverse", "masked", "sentiment", "digits-autoencoder", "translation"])
def test_a_validation_reads_as_many_as_a_step_and_says_the_same(name, few_words, monkeypatch):
    """Of one example at a time, some ask for nothing that a score counts."""
    found, read = [], []
    forward = Transformer.encode if name == "translation" else Transformer.forward

    def counted(model, tokens, *others, **options):
        read.append(len(tokens))
        return forward(model, tokens, *others, **options)

    monkeypatch.setattr(Transformer, forward.__name__, counted)
    for batch_size, accumulation in ((1, 1), (30, 4), (64, 1)):
        sizes = {"n_layers": 1, "n_heads": 1, "d_model": 16}
        training = {"batch_size": batch_size, "accumulation": accumulation, "held_out": 40, "threads": 1}
        task = make_task(name, few_words if name == "masked" else {})
        run = run_config(task, sizes=sizes, training=training)
        found.append(Training(run).verdict().scores)
        n = task.split_sizes()["held out"] or 40
        assert max(read) == min(-(-batch_size // accumulation), n, 40)
        read.clear()
    assert found[0] == pytest.approx(found[2], rel=1e-4) and found[1] == pytest.approx(found[2], rel=1e-4)


def test_a_validation_computes_no_logits_where_nothing_is_asked(few_words, monkeypatch):
    run = run_config(make_task("masked", few_words), training={"held_out": 8, "threads": 1})
    training, read, unembed = Training(run), [], Transformer.unembed

    def counted(model, x):
        read.append(x.shape[:-1].numel())
        return unembed(model, x)

    monkeypatch.setattr(Transformer, "unembed", counted)
    training.verdict()
    (held_out,) = training._held_out
    assert read == [held_out.n_asked] and 0 < held_out.n_asked < held_out.n_tokens / 3
