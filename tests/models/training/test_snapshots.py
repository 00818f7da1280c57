"""Snapshots are dense at the start, hold both ends, and are fewer where they are large."""

from itertools import pairwise

import pytest
import torch

from models.byte_units import GB, MB
from models.training.loop import Training
from models.training.snapshots import snapshot_bytes, snapshot_steps
from tests.models.training.small import config


@pytest.mark.parametrize(("steps", "n"), [(1, 2), (5, 40), (100, 40), (2_000, 40), (100_000, 12), (9, 2)])
def test_snapshot_steps_are_dense_at_the_start_and_hold_both_ends(steps, n):
    chosen = snapshot_steps(steps, n)
    assert chosen[0] == 0
    assert chosen[-1] == steps
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(n, steps + 1)
    gaps = [b - a for a, b in pairwise(chosen)]
    assert gaps[:-1] == sorted(gaps[:-1]) or max(gaps) <= steps / 10


def test_large_snapshots_are_fewer():
    run = config()
    assert len(snapshot_steps(1_000, 40, MB)) == 16
    assert len(snapshot_steps(1_000, 40, GB)) == 2
    probe = run.task.probe()
    n = len(probe.tokens["decoder"])
    assert snapshot_bytes(run.model, probe) == 2 * 1 * 2 * n * n
    pattern = Training(run).snapshot()["decoder.0.self.pattern"]
    assert pattern.numel() * pattern.element_size() == snapshot_bytes(run.model, probe)


def test_what_a_task_watches_is_kept_with_the_patterns():
    run = config(sizes={"norm": "none"}, task="modular-addition")
    training = Training(run)
    kept = training.snapshot()
    assert kept["decoder.0.self.pattern"].shape == (2, 3, 3)
    numbers = training.model.embedding.weight.detach()[:113].double()
    waves = torch.arange(113)[:, None] * torch.arange(1, 57) * 2 * torch.pi / 113  # [number, frequency]
    power = (waves.cos().double().T @ numbers).square() + (waves.sin().double().T @ numbers).square()
    shares = power.sum(dim=1) / power.sum()
    torch.testing.assert_close(kept["embedding.powers"].double(), shares, rtol=1e-3, atol=1e-5)
