"""Every task, every scheme of positions and every mask trains on a device that has no float64."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from attention_lab.models.config import POSITION_SCHEMES
from attention_lab.models.data.tasks import TASKS
from attention_lab.models.engine.masks import MASKS
from attention_lab.models.training import loop
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training
from attention_lab.models.training.memory import Machine, choose
from tests.apple_gpu import DEVICE, Shell, apple_gpu
from tests.models.training.small import QUICK, SMALL, config, small_task


@pytest.fixture(autouse=True)
def on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def there(how: Any) -> Machine:
        machine = choose(how)
        return replace(machine, device=DEVICE) if how.device == "auto" else machine

    monkeypatch.setattr(loop, "choose", there)


def there_and_here(run: Any) -> None:
    """Trains a run on the device, with validation, snapshot, samples and state; losses are as on the CPU."""
    with apple_gpu():
        training = Training(replace(run, training=replace(run.training, device="auto")))
        records = list(training)
        training.load_state(*training.state())
    weight = next(training.model.parameters())
    assert isinstance(weight, Shell) and weight.device == DEVICE
    for one, other in zip(records, Training(run), strict=True):
        assert one.losses == pytest.approx(other.losses, rel=1e-5)
        assert (one.validation or {}) == pytest.approx(other.validation or {}, rel=1e-5)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_trains_without_float64(name: str) -> None:
    training = {**QUICK, "steps": 1, "n_snapshots": 2}
    there_and_here(run_config(small_task(name), sizes=SMALL, training=training))


@pytest.mark.parametrize("positions", POSITION_SCHEMES)
def test_every_scheme_trains_without_float64(positions: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In both stacks; tasks of each kind train above."""
    task = "translation"
    monkeypatch.setattr(TASKS[task], "samples", lambda *_: [])  # the tests above look at them
    there_and_here(config({"positions": positions}, task, steps=1, accumulation=2))


@pytest.mark.parametrize("mask", MASKS)
def test_every_mask_trains_without_float64(mask: str) -> None:
    there_and_here(config({"mask": mask}, "reverse", steps=1, gradient_checkpointing=True))


def test_the_device_refuses_what_an_apple_gpu_refuses() -> None:
    with apple_gpu():
        there = torch.zeros(2, device=DEVICE)
        for wrong in (
            lambda: there.double(),
            lambda: torch.arange(3, dtype=torch.float64, device=DEVICE),
            lambda: torch.zeros(2, dtype=torch.float64).to(there),
            lambda: torch.tensor([1.0], dtype=torch.float64, device=DEVICE),
        ):
            with pytest.raises(TypeError, match=r"no (torch\.)?float64"):
                wrong()
        with pytest.raises(RuntimeError, match="two devices"):
            there + torch.zeros(2)
        assert (there + torch.ones((), dtype=torch.float64)).tolist() == [1, 1]
