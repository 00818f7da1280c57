"""The paper's learning rate against a plain loop and the project's own schedule; Adam's steps on noise."""

import math

import pytest
import torch

from attention_lab.models.training.config import TrainingConfig
from attention_lab.models.training.loop import learning_rate
from attention_lab.pages.lab.objective import warmup as warmup_module

STEPS = [1, 2, 100, 3_999, 4_000, 4_001, 12_345, 20_000]


def test_the_papers_formula():
    warmups = torch.tensor([500.0, 4_000.0], dtype=torch.float64)
    made = warmup_module.paper(512, warmups, torch.tensor(STEPS, dtype=torch.float64))
    for row, warmup in zip(made.tolist(), (500, 4_000), strict=True):
        assert row == pytest.approx(
            [1 / math.sqrt(512) * min(1 / math.sqrt(step), step * warmup**-1.5) for step in STEPS]
        )


@pytest.mark.parametrize("name", ["warm-up", "cosine"])
def test_the_projects_schedule_is_the_same(name):
    peak = warmup_module.peak(256, torch.tensor([1_000.0], dtype=torch.float64)).item()
    config = TrainingConfig(schedule=name, warmup_steps=1_000, steps=20_000, learning_rate=peak)
    expected = [learning_rate(config, step) for step in STEPS]
    at, warmup = torch.tensor(STEPS, dtype=torch.float64), torch.tensor([1_000.0], dtype=torch.float64)
    made = (
        warmup_module.paper(256, warmup, at)
        if name == "warm-up"
        else warmup_module.cosine(256, warmup, at, 20_000)
    )
    assert made[0].tolist() == pytest.approx(expected)


def test_on_noise_adam_begins_with_whole_steps_and_ends_with_small_ones():
    sizes = warmup_module.noise_directions((0.9, 0.98), 200, seed=0)
    generator = torch.Generator().manual_seed(0)
    weight = torch.nn.Parameter(torch.zeros(2_000))
    theirs = torch.optim.Adam([weight], lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    for step in range(30):
        before = weight.detach().clone()
        weight.grad = torch.randn(2_000, generator=generator)
        theirs.step()
        assert sizes[step].item() == pytest.approx((weight.detach() - before).abs().mean().item(), abs=1e-4)
    assert sizes[0].item() == pytest.approx(1)
    expected = math.sqrt(0.1 / 1.9) * math.sqrt(2 / math.pi)
    assert sizes[100:].mean().item() == pytest.approx(expected, rel=0.03)


def test_the_ramp():
    assert warmup_module.ramp(4, 6).tolist() == [0.25, 0.5, 0.75, 1, 1, 1]
