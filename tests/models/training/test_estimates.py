"""The estimates of a run are compared with the run."""

import time
from dataclasses import replace

import pytest
import torch

from attention_lab.models.data.tasks import make_task
from attention_lab.models.training import estimates
from attention_lab.models.training.config import run_config
from attention_lab.models.training.estimates import estimate, whole_seconds
from attention_lab.models.training.loop import Training


def config(task="reverse", sizes=None, **training):
    return run_config(make_task(task), sizes=sizes, training={"threads": 1, **training})


def test_the_whole_is_the_sum_of_its_parts(monkeypatch):
    monkeypatch.setattr(estimates, "_example_seconds", lambda config: 0.003)
    monkeypatch.setattr(estimates, "_drawing_seconds", lambda task: 0.001)
    run = config(steps=100, batch_size=10, held_out=50, n_snapshots=5, validate_every=30)
    parameters, checkpoint = sum(weight.numel() for weight in Training(run).model.parameters()), 0.02
    step = 10 * (0.003 + 0.001) + parameters * 2e-9 + 1e-3 + 2e-4
    validations = 4 * 50 * 0.002  # at 30, 60, 90 and the last, two forward passes each
    parts = 3 + 100 * step + validations + 3 * 50 * 0.002 + 5 * 0.001
    assert whole_seconds(run) == pytest.approx(parts + 2 * checkpoint, abs=0.02)
    again = replace(run, training=replace(run.training, gradient_checkpointing=True))
    assert whole_seconds(again) - whole_seconds(run) == pytest.approx(100 * 10 * 0.001, abs=0.01)


def test_a_run_takes_about_as_long_as_was_said():
    """Validations, which take most of the time of this run, are counted."""
    run = config(steps=12, batch_size=32, held_out=320, validate_every=4, n_snapshots=3)
    said = estimate(run)
    start = time.perf_counter()
    list(Training(run))
    taken = time.perf_counter() - start
    assert taken / 4 < said.seconds - estimates.START_SECONDS < 4 * taken


def test_nothing_large_is_tried_and_nothing_of_the_process_changes():
    giant = config(sizes={"n_layers": 48, "d_model": 4_096, "n_heads": 32}, threads=2)
    before, random = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(1)
    try:
        start = time.perf_counter()
        assert estimate(giant).seconds > 60
        assert time.perf_counter() - start < 5
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
    assert torch.equal(torch.get_rng_state(), random)
