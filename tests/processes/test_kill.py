"""Runs that are killed, and disks that are full: what was written stands, and going on changes no number."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attention_lab.models.runs.folder import RunFolder, create_run
from attention_lab.models.runs.recording import train_into
from tests.small_runs import assert_same, small_run

ROOT = Path(__file__).parents[2]
KILLS = 4
CONFIG = small_run(dropout=0.1, steps=300, n_snapshots=12, validate_every=150, checkpoint_seconds=0.0)


def python(*arguments, **options):
    """A Python process in the project, with one thread as in the tests."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        **options,
    )


def test_a_run_killed_at_any_moment_ends_as_if_never_killed(tmp_path):
    killed, whole = create_run(CONFIG, path=tmp_path / "killed"), create_run(CONFIG, path=tmp_path / "whole")
    ended = python(Path(__file__).with_name("killed.py"), killed.path, 0, KILLS)
    assert ended.returncode == 0, ended.stderr
    moments = [int(word) for word in ended.stdout.split()]
    assert len(moments) == KILLS
    assert moments[-1] < CONFIG.training.steps  # the last one, too, hit a run under way
    train_into(whole, CONFIG)
    assert_same(killed, whole)
    assert killed.snapshots() == whole.snapshots()
    for step in whole.snapshots():
        for address, pattern in whole.snapshot(step).items():
            assert torch.equal(killed.snapshot(step)[address], pattern)
    assert not list(killed.path.rglob(".*.tmp"))


FULL = """
import resource, sys
from pathlib import Path
from attention_lab.models.runs.folder import RunFolder
from attention_lab.models.runs.recording import train_into

run = RunFolder(Path(sys.argv[1]))
size = (run.path / "checkpoint.safetensors").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))
try:
    train_into(run, run.config())
except ValueError as error:
    sys.exit(str(error))
"""


def test_a_file_that_cannot_grow_ends_the_run_with_a_sentence(tmp_path):
    run = create_run(CONFIG, path=tmp_path / "run")
    steps = iter(range(5))
    train_into(run, CONFIG, should_stop=lambda: next(steps) == 3)
    whole = (run.path / "checkpoint.safetensors").read_bytes()
    ended = python("-c", FULL, run.path)
    assert ended.returncode == 1
    assert "could not be written to" in ended.stderr
    assert "the disk is full; free some space, then resume from the last checkpoint" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert (run.path / "checkpoint.safetensors").read_bytes() == whole
    assert not list(run.path.rglob(".*.tmp"))


def test_a_full_disk_leaves_the_last_checkpoint_whole(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        run = create_run(CONFIG, path=disk / "run")
        ended = python("-m", "attention_lab.models.training", "resume", run.path)
        assert ended.returncode == 1
        assert "error: " in ended.stderr
        assert "the disk is full; free some space" in ended.stderr
        assert "Traceback" not in ended.stderr
        reached = run.checkpoint()
        assert 0 < reached.step < CONFIG.training.steps
        assert run.model().config == CONFIG.model
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_folder_that_is_not_writable_is_said(tmp_path):
    run = create_run(CONFIG, path=tmp_path / "run")
    os.chmod(run.path, 0o555)
    try:
        if os.access(run.path, os.W_OK):
            pytest.skip("this user may write everywhere")
        with pytest.raises(ValueError, match="the folder is not writable; allow writing"):
            train_into(RunFolder(run.path), CONFIG)
    finally:
        os.chmod(run.path, 0o755)
