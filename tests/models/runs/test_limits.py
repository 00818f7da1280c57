"""What is refused, and what the refusal says to do."""

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from attention_lab.models.byte_units import readable
from attention_lab.models.data.tasks import make_task
from attention_lab.models.runs import queue
from attention_lab.models.runs.folder import Status, write_status
from attention_lab.models.runs.owners import MACHINE, Ownership, Visitor, write_owned
from attention_lab.models.runs.processes import this_process
from attention_lab.models.runs.queue import JobRefused
from attention_lab.models.training.config import RunConfig, run_config
from attention_lab.models.training.memory import PROCESS_BYTES, fitting_sizes, memory_bytes
from tests.limits import SetLimits


class Usage(NamedTuple):
    free: int


def run(root: Path, run_id: str, state: str, owner: str = "") -> None:
    (root / run_id).mkdir()
    described = {"version": 1, "name": run_id.upper(), "task": {}, "model": {}}
    (root / run_id / "config.json").write_text(json.dumps(described))
    me = this_process()
    write_owned(root / run_id, Ownership(owner=owner))
    status = Status(state=state, pid=me.pid, started_at=me.started_at, heartbeat=time.time())
    write_status(root / run_id, status)


def test_eight_may_wait(tmp_path: Path) -> None:
    for index in range(8):
        queue.check_queue(tmp_path)
        run(tmp_path, f"run-{index}", "queued")
        queue.enter(tmp_path, f"run-{index}", "cpu")
    with pytest.raises(JobRefused, match="8 runs wait already, the most there may be; stop one, or wait"):
        queue.check_queue(tmp_path)


def test_a_visitor_may_have_two_live_runs(tmp_path: Path) -> None:
    run(tmp_path, "a", "running", "me")
    run(tmp_path, "b", "paused", "me")
    run(tmp_path, "c", "running", "you")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "config.json").write_text("no JSON")
    queue.check_live(tmp_path, Visitor("me"))
    run(tmp_path, "d", "queued", "me")
    with pytest.raises(JobRefused, match="of yours train or wait already,"):
        queue.check_live(tmp_path, Visitor("me"))
    queue.check_live(tmp_path, Visitor("you"))
    queue.check_live(tmp_path, MACHINE)


def test_all_runs_together_have_a_budget(tmp_path: Path, set_limits: SetLimits) -> None:
    set_limits(runs_gb=1)
    queue.check_disk(tmp_path, MACHINE, 10**6)
    with pytest.raises(JobRefused) as refused:
        queue.check_disk(tmp_path, MACHINE, 10**8)
    assert str(refused.value) == (
        "this run needs up to 2.0 GB, and all runs together have 0 bytes of 1.0 GB; "
        "choose a smaller model, or set runs_gb higher in the file of limits"
    )
    for run_id, size in (("small", 10**6), ("large", 980 * 10**6)):
        run(tmp_path, run_id, "finished")
        with (tmp_path / run_id / "checkpoint.safetensors").open("wb") as file:
            file.truncate(size)
    with pytest.raises(JobRefused, match=r"delete some \(the largest is 'LARGE' with 980 MB\), or choose"):
        queue.check_disk(tmp_path, MACHINE, 10**6)


def test_a_visitors_run_has_room_for_its_weights_and_its_snapshots(
    tmp_path: Path, set_limits: SetLimits
) -> None:
    set_limits(visitor_runs_mb=25)
    queue.check_disk(tmp_path, Visitor("anna"), 0)
    with pytest.raises(JobRefused, match=r"this run needs up to 26 MB, and your runs together have 0 bytes"):
        queue.check_disk(tmp_path, Visitor("anna"), 100_000)


def test_a_full_disk_takes_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**7))
    with pytest.raises(JobRefused, match=r"needs up to 44 MB, but the disk has 10 MB left; choose a"):
        queue.check_disk(tmp_path, MACHINE, 10**6)


@pytest.fixture
def config() -> RunConfig:
    sizes = {"n_layers": 4, "n_heads": 8, "d_model": 256, "dropout": 0.1}
    return run_config(make_task("reverse"), sizes=sizes, training={"batch_size": 1024, "device": "cpu"})


def test_what_fits_is_told_its_parameters(config: RunConfig) -> None:
    from attention_lab.models.engine.transformer import Transformer

    n_parameters = sum(parameter.numel() for parameter in Transformer(config.model).parameters())
    assert queue.check_memory(config) == n_parameters
    queue.refuse_above(config, memory_bytes(config))


def test_what_does_not_fit_is_told_the_nearest_sizes(
    config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = memory_bytes(config) - 1
    monkeypatch.setattr(queue, "memory_left", lambda: free)
    with pytest.raises(JobRefused) as refused:
        queue.check_memory(config)
    needed = readable(memory_bytes(config))
    assert str(refused.value).startswith(f"this run needs about {needed} of memory, but {needed} are free; ")
    assert "batch_size=512" in str(refused.value)
    smaller = replace(config, training=replace(config.training, batch_size=512))
    assert queue.check_memory(smaller)


def test_out_of_memory_names_what_should_need_half(config: RunConfig) -> None:
    limit = memory_bytes(config) - (memory_bytes(config) - PROCESS_BYTES) // 2
    sizes = fitting_sizes(config, limit)
    assert sizes
    said = ", or ".join(f"{name}={value}" for name, value in sizes.items())
    assert queue.out_of_memory(config) == f"try {said}"
