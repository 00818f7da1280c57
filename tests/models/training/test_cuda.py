"""On a GPU of NVIDIA's: the numbers of the CPU, in every precision, and no step that waits for the device."""

from dataclasses import replace

import pytest
import torch

from attention_lab.models.config import NORMALIZERS, POSITION_SCHEMES
from attention_lab.models.engine.decoding import greedy
from attention_lab.models.training.loop import Training
from attention_lab.models.training.memory import memory_bytes
from tests.models.training.small import config

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU of NVIDIA's")
KINDS = ("sentiment", "language-model", "translation")


def there(sizes=None, task="language-model", **training):
    return config(sizes, task, **{"n_snapshots": 2, **training, "device": "cuda"})


@pytest.mark.parametrize("task", KINDS)
def test_steps_are_those_of_the_cpu(task):
    run = there(task=task)
    here = Training(replace(run, training=replace(run.training, device="cpu")))
    for one, other in zip(Training(run), here, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=0.02)  # products round their factors to 10 bits
        assert (one.validation or {}).keys() == (other.validation or {}).keys()


@pytest.mark.parametrize("sizes", [
    {"dropout": 0.1}, *({"positions": each} for each in POSITION_SCHEMES),
    *({"normalizer": each} for each in NORMALIZERS),
])  # fmt: skip
@pytest.mark.parametrize("task", KINDS)
@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_no_step_waits(task, sizes, precision):
    training = Training(there(sizes, task, precision=precision))
    batch = training._next_batch()
    training._update(batch, 1e-3)
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        training._update(batch, 1e-3)
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_every_precision_learns(precision):
    records = list(Training(there(steps=60, precision=precision, batch_size=16)))
    assert records[-1].loss < 0.8 * records[0].loss


def test_a_state_goes_on_bit_for_bit():
    run = there({"dropout": 0.1}, validate_every=3)
    whole, first, second = Training(run), Training(run), Training(run)
    records = list(whole)
    while first.step < 3 or first.waiting:
        next(first)
    second.load_state(*first.state())
    rest = list(second)
    assert [each.loss for each in rest] == pytest.approx([each.loss for each in records[-len(rest) :]])


def test_texts_are_those_of_the_cpu():
    training = Training(there())
    prompt = torch.arange(8)[None] + 1
    written = greedy(training.model.eval(), prompt.cuda(), max_new_tokens=20).cpu()
    assert torch.equal(written[:, :9], greedy(training.model.cpu(), prompt, max_new_tokens=20)[:, :9])


def test_memory_is_as_estimated():
    run = there({"n_layers": 4, "n_heads": 4, "d_model": 256}, batch_size=64, steps=3)
    torch.cuda.reset_peak_memory_stats()
    used = list(Training(run))[-1].memory
    assert 0.5 < memory_bytes(run) / used < 2
