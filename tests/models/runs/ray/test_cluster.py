"""The words for a cluster that is missing, and what is asked of it, without Ray."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attention_lab.models.data.tasks import make_task
from attention_lab.models.runs import jobs
from attention_lab.models.runs.folder import (
    AFAR_SECONDS,
    CLUSTER,
    Status,
    create_run,
    hanging,
    judge,
    read_status,
    write_status,
)
from attention_lab.models.runs.owners import MACHINE
from attention_lab.models.runs.queue import JobRefused
from attention_lab.models.runs.ray import cluster, work
from attention_lab.models.training.config import run_config

ROOT = Path(__file__).parents[4]


@pytest.fixture
def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def test_without_a_cluster_nothing_of_ray_is_imported():
    asked = (
        "import sys; from attention_lab.models.runs import jobs, recording, worker; "
        "jobs.backend(); "
        "sys.exit(any(name == 'ray' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", asked], cwd=ROOT, check=False).returncode == 0


def test_a_run_for_a_cluster_that_is_not_there_is_refused_and_leaves_no_folder(root, free_port, monkeypatch):
    monkeypatch.setenv(cluster.VARIABLE, f"127.0.0.1:{free_port}")
    with pytest.raises(
        JobRefused, match=f"no Ray cluster answers at 127.0.0.1:{free_port} .*ray start --head"
    ):
        jobs.submit(run_config(make_task("reverse")), by=MACHINE)
    assert not list(root.glob("*/config.json"))


@pytest.mark.parametrize("given", ["nonsense", "ray://somewhere:10001", "host:port", "host:99999", ":5"])
def test_what_is_no_address_is_said(given, monkeypatch):
    monkeypatch.setenv(cluster.VARIABLE, given)
    with pytest.raises(JobRefused, match="is no address of a Ray cluster; give host:port,"):
        cluster.address()


def test_auto_is_the_cluster_that_this_machine_started(tmp_path, monkeypatch):
    monkeypatch.setenv(cluster.VARIABLE, "auto")
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(JobRefused, match="no Ray cluster runs here; start one"):
        cluster.address()
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = f"127.0.0.1:{server.getsockname()[1]}"
        (tmp_path / "ray").mkdir()
        (tmp_path / "ray" / "ray_current_cluster").write_text(there)
        assert cluster.address() == there


@pytest.mark.parametrize(
    "attack", ["others may write", "another wrote", "a link", "a second name", "a folder"]
)
def test_auto_believes_only_a_note_that_nobody_else_can_have_written(attack, tmp_path, monkeypatch):
    monkeypatch.setenv(cluster.VARIABLE, "auto")
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    note = tmp_path / "ray" / "ray_current_cluster"
    note.parent.mkdir()
    note.parent.chmod(0o777)  # as Ray makes it
    note.write_text("127.0.0.1:6379")
    assert cluster.stated_address() == "127.0.0.1:6379"
    if attack == "others may write":
        note.chmod(0o666)
    elif attack == "another wrote":
        monkeypatch.setattr(cluster.os, "geteuid", lambda: 12_345)
        if note.stat().st_uid == 0:
            os.chown(note, 54_321, -1)
    elif attack == "a link":
        note.rename(tmp_path / "elsewhere")
        note.symlink_to(tmp_path / "elsewhere")
    elif attack == "a second name":
        os.link(note, tmp_path / "elsewhere")
    else:
        note.unlink()
        note.mkdir()
    with pytest.raises(JobRefused, match="but others could have written"):
        cluster.stated_address()


def test_ray_that_is_missing_is_asked_for_in_one_sentence(monkeypatch):
    monkeypatch.setenv(cluster.VARIABLE, "auto")
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    with pytest.raises(JobRefused, match="'auto', but Ray is not installed: make install-ray"):
        cluster.address()


def test_a_run_afar_is_judged_by_its_signs_of_life_alone(tmp_path):
    now = time.time()
    there = Status(state="running", step=7, heartbeat=now, node="10.0.0.5", pid=1, started_at=0.0, attempt=1)
    assert judge(there, None, now=now + AFAR_SECONDS - 1, alive=lambda process: False) == there
    silent = judge(there, None, now=now + AFAR_SECONDS + 5, alive=lambda process: True)
    assert silent.state == "failed"
    assert silent.sentence == (
        "the cluster gave no sign of this run for 35 seconds (last at step 7, on 10.0.0.5); resume goes on "
        "from the last checkpoint"
    )
    write_status(tmp_path, Status(**{**vars(there), "heartbeat": now - 100}))
    assert hanging(tmp_path) is None  # its number is another machine's


def test_a_node_with_another_folder_says_so(root, monkeypatch):
    config = run_config(make_task("reverse"))
    run = create_run(config)
    write_status(run.path, Status(state="queued", node=CLUSTER, heartbeat=time.time(), attempt=1))
    monkeypatch.setattr(work, "_node", lambda: "10.0.0.5")
    said = work.train(work.Assignment(str(root), "seen-never", run.id, 1, 1))
    assert said.startswith(
        f"the folder of the runs, {str(root)!r}, is not the same on 10.0.0.5; put it where"
    )
    assert read_status(run.path).state == "queued"
