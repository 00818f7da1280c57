"""What a probe says that a run takes, against the run."""

import time
from dataclasses import replace

import pytest
import torch

from attention_lab.models.data.tasks import make_task
from attention_lab.models.training import estimates
from attention_lab.models.training.config import run_config
from attention_lab.models.training.estimates import Costs, Timed, estimate, probe, whole
from attention_lab.models.training.loop import Training


def config(task="reverse", sizes=None, **training):
    return run_config(make_task(task), sizes=sizes, training={"threads": 1, **training})


def of(seconds):
    return Timed(seconds, seconds / 2)


def test_the_whole_is_the_sum_of_its_parts():
    run = config(steps=100, held_out=50, n_snapshots=5, validate_every=30)
    costs = Costs(data=of(1), step=of(0.1), example=of(0.01), samples=of(2), snapshot=of(0.5))
    recorded, checkpoint = 100 * 2e-4, 0.02
    steps, snapshots, validations = 100 * 0.1, 5 * 0.5, 4 * (50 * 0.01 + 2)  # at 30, 60, 90 and the last
    found = whole(run, costs)
    report = 3 * 50 * 0.01
    parts = 1 + steps + snapshots + validations + report
    assert found.seconds == pytest.approx(parts + recorded + 2 * 3 + 2 * checkpoint, abs=0.1)  # twice slowed
    assert found.alone == pytest.approx(parts / 2 + recorded + 3 + 2 * checkpoint, abs=0.1)
    assert whole(replace(run, training=replace(run.training, held_out=100)), costs).seconds == pytest.approx(
        found.seconds + (4 + 3) * 50 * 0.01, abs=0.01
    )


def test_a_run_takes_about_as_long_as_its_probe_says():
    """Validations, which take most of the time of this run, are counted. Seconds of this thread, since others
    work on the machine, too.
    """
    run = config(steps=12, batch_size=32, held_out=320, validate_every=4, n_snapshots=3)
    said = estimate(run, probe(run))
    start = time.thread_time()
    list(Training(run))
    taken = time.thread_time() - start
    assert said.seconds >= 0.99 * said.alone  # two clocks are read one after the other
    assert taken / 3 < said.alone - estimates.START_SECONDS < 3 * taken


def test_a_larger_batch_is_probed_in_part(monkeypatch):
    """Two sizes say what each further example adds to what every step costs."""
    run = config("reverse", {"d_model": 32}, batch_size=64, accumulation=2)
    tried = []

    def steps(config, examples, n):
        tried.append(n)
        return of(1.0 + 0.1 * n)

    monkeypatch.setattr(estimates, "_steps", steps)
    examples = run.task.sketch(8)
    assert estimates._piece(run, examples, 8).seconds == pytest.approx(1.0 + 0.1 * 32)
    assert estimates._piece(run, examples, 32).seconds == pytest.approx(1.0 + 0.1 * 32)
    assert tried == [8, 4, 32]
    monkeypatch.setattr(estimates, "_PASS_SECONDS", 1e-9)
    assert estimates._examples_at_once(run) == 1
    monkeypatch.setattr(estimates, "MOST_BYTES", 0)
    assert estimates._examples_at_once(run) == 0


def test_nothing_large_is_tried_and_nothing_of_the_process_changes():
    giant = config(sizes={"n_layers": 48, "d_model": 4_096, "n_heads": 32})
    start = time.perf_counter()
    assert probe(giant) is None
    assert time.perf_counter() - start < 1
    before, random = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(1)
    try:
        probe(config(sizes={"dropout": 0.1}, threads=2, steps=2))
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
    assert torch.equal(torch.get_rng_state(), random)
    estimated = estimate(giant)
    assert estimated.alone is None
    assert estimated.seconds > 60
