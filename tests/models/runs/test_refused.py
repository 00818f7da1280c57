"""Runs that are refused: known before they are asked for, and nothing is left of them."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from models.runs import continuation, jobs, queue
from models.runs.checkpoints import Checkpoint, write_checkpoint
from models.runs.owners import MACHINE
from models.runs.queue import JobRefused
from models.training.config import RunConfig
from tests.limits import SetLimits
from tests.models.runs.test_jobs import ANNA, BEN, Starts, config, ended, root, starts

__all__ = ["config", "ended", "root", "starts"]


def test_what_would_be_refused_is_known_before_and_leaves_nothing(
    root: Path, starts: Starts, config: RunConfig, set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.check(config, by=ANNA)
    assert not root.exists()  # a look makes nothing
    for _ in range(2):
        jobs.submit(config, by=ANNA)
    before = sorted(root.rglob("*"))
    with pytest.raises(JobRefused, match="of yours train or wait already"):
        jobs.check(config, by=ANNA)
    set_limits(queue_length=2, visitor_minutes_a_day=30)
    with pytest.raises(JobRefused, match="2 runs wait already"):
        jobs.check(config, by=BEN)
    set_limits(runs_gb=1, snapshots_mb=1_000)
    with pytest.raises(JobRefused, match=r"and all runs together have .* of 1.0 GB"):
        jobs.check(config, by=MACHINE)
    monkeypatch.setattr(queue, "memory_left", lambda: 1_000)
    with pytest.raises(JobRefused, match=r"of memory, but 1.0 kB are free"):
        jobs.check(config, by=MACHINE)
    assert sorted(root.rglob("*")) == before


def test_a_refusal_in_the_last_moment_leaves_no_folder(
    root: Path, starts: Starts, config: RunConfig, ended: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = ended("finished", 50)
    write_checkpoint(root / run_id / "checkpoint.safetensors", Checkpoint(50, {}, {"step": 50}))

    def refused(*_: object, **__: object) -> None:
        raise JobRefused("8 runs wait already")

    with monkeypatch.context() as patch:
        patch.setattr(jobs.LocalBackend, "submit", refused)
        with pytest.raises(JobRefused, match="8 runs wait already"):
            jobs.submit(config, by=MACHINE)
        with pytest.raises(JobRefused, match="8 runs wait already"):
            jobs.extend(run_id, 100, by=MACHINE)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(continuation.shutil, "copyfile", full)
    with pytest.raises(OSError, match="No space left"):
        jobs.extend(run_id, 100, by=MACHINE)
    with pytest.raises(ValueError, match="is no name for a run"):
        jobs.submit(config, name="x" * 81, by=MACHINE)
    assert [path.name for path in root.iterdir() if not path.name.startswith(".")] == [run_id]
