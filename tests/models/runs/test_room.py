"""Runs that do not fit into memory are refused with sizes that do."""

from dataclasses import replace

import pytest

from models.byte_units import readable
from models.data.tasks import make_task
from models.runs import room
from models.runs.limits import JobRefused
from models.runs.room import check_memory, out_of_memory, refuse_above
from models.training.config import RunConfig, run_config
from models.training.memory import PROCESS_BYTES, fitting_sizes, memory_bytes


@pytest.fixture
def config() -> RunConfig:
    sizes = {"n_layers": 4, "n_heads": 8, "d_model": 256, "dropout": 0.1}
    return run_config(make_task("reverse"), sizes=sizes, training={"batch_size": 1024, "device": "cpu"})


def test_what_fits_is_told_its_parameters(config: RunConfig) -> None:
    from models.engine.transformer import Transformer

    n_parameters = sum(parameter.numel() for parameter in Transformer(config.model).parameters())
    assert check_memory(config) == n_parameters
    refuse_above(config, memory_bytes(config))


def test_what_does_not_fit_is_told_the_nearest_sizes(
    config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = memory_bytes(config) - 1
    monkeypatch.setattr(room, "memory_left", lambda: free)
    with pytest.raises(JobRefused) as refused:
        check_memory(config)
    needed = readable(memory_bytes(config))
    assert str(refused.value).startswith(f"this run needs about {needed} of memory, but {needed} are free; ")
    assert "batch_size=512" in str(refused.value)
    smaller = replace(config, training=replace(config.training, batch_size=512))
    assert check_memory(smaller)


def test_out_of_memory_names_what_should_need_half(config: RunConfig) -> None:
    limit = memory_bytes(config) - (memory_bytes(config) - PROCESS_BYTES) // 2
    sizes = fitting_sizes(config, limit)
    assert sizes
    assert out_of_memory(config) == "try " + ", or ".join(f"{name}={value}" for name, value in sizes.items())
