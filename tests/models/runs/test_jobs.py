"""Jobs without their processes: what is written, refused and resolved. Processes: tests/processes."""

import errno
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from attention_lab.models.byte_units import GB
from attention_lab.models.files import FileError
from attention_lab.models.runs import continuation, jobs, queue
from attention_lab.models.runs.checkpoints import Checkpoint, write_checkpoint
from attention_lab.models.runs.folder import LOG, Status, read_request, read_status, write_status
from attention_lab.models.runs.owners import MACHINE, Ownership, Visitor, ownership_of
from attention_lab.models.runs.processes import Identity, this_process
from attention_lab.models.runs.queue import JobRefused
from attention_lab.models.training.config import RunConfig
from tests.limits import SetLimits
from tests.small_runs import small_run

ANNA, BEN, TEACHER = Visitor("a1"), Visitor("b2"), Visitor("c3", all_rights=True)
Starts = list[tuple[str, Identity | None]]


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Starts:
    """The processes that would be started: the run's id and the parent it watches."""
    found: Starts = []
    monkeypatch.setattr(jobs, "_start", lambda folder, parent: found.append((folder.name, parent)))
    return found


@pytest.fixture
def config() -> RunConfig:
    return small_run(steps=50, device="auto")


@pytest.fixture
def ended(root: Path, starts: Starts, config: RunConfig) -> Callable[..., str]:
    """Makes a run that has come to an end, and returns its id."""

    def make(state: str, step: int = 20, **more: object) -> str:
        run_id = jobs.submit(config, name="Backwards", by=MACHINE)
        queue.leave(root, run_id)
        write_status(root / run_id, Status(state=state, step=step, steps=50, seconds=3.0, **more))
        return run_id

    return make


def test_submit_writes_the_folder_queues_it_and_starts_its_process(
    root: Path, starts: Starts, config: RunConfig
) -> None:
    run_id = jobs.submit(config, name="Backwards", by=ANNA)
    assert jobs.run_folder(run_id).name == "Backwards"
    assert jobs.run_folder(run_id).config() == config
    found = jobs.status(run_id)
    assert (found.state, found.step, found.steps) == ("queued", 0, 50)
    assert ownership_of(root / run_id) == Ownership(owner="a1", minutes=30)
    assert [ticket.run_id for ticket in queue.waiting(root)] == [run_id]
    assert starts == [(run_id, this_process())]


def test_a_run_that_keeps_going_has_no_parent(root: Path, starts: Starts, config: RunConfig) -> None:
    run_id = jobs.submit(config, keep_going=True, by=MACHINE)
    assert starts == [(run_id, None)]
    assert jobs.status(run_id).keep_going


def test_a_process_that_cannot_start_fails_the_run(
    root: Path, config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "WORKER", [str(root / "no python")])
    with pytest.raises(OSError, match="No such file"):
        jobs.submit(config, by=MACHINE)
    (run_id,) = [path.parent.name for path in root.glob("*/config.json")]
    found = jobs.status(run_id)
    assert found.state == "failed"
    assert found.sentence.startswith("no process could start: ")
    assert queue.waiting(root) == []


def test_resume_goes_on_where_it_was(root: Path, starts: Starts, ended: Callable[..., str]) -> None:
    for state in ("paused", "stopped", "failed"):
        run_id = ended(state)
        (root / run_id / "request.json").write_text('{"ask": "stop"}')
        starts.clear()
        jobs.resume(run_id, by=MACHINE)
        found = jobs.status(run_id)
        assert (found.state, found.step, found.seconds) == ("queued", 20, 3.0)
        assert read_request(root / run_id) is None
        assert starts == [(run_id, this_process())]


def test_resume_refuses_what_is_live_or_done(root: Path, ended: Callable[..., str]) -> None:
    me = this_process()
    now = {"pid": me.pid, "started_at": me.started_at, "heartbeat": time.time()}
    with pytest.raises(JobRefused, match="run 'Backwards' is running; pause it first"):
        jobs.resume(ended("running", **now), by=MACHINE)
    with pytest.raises(JobRefused, match="run 'Backwards' is stopping; wait until it has ended"):
        jobs.resume(ended("stopping", **now), by=MACHINE)
    with pytest.raises(JobRefused, match="'Backwards' has done its 50 steps; train it further instead"):
        jobs.resume(ended("finished", 50), by=MACHINE)


def test_resume_ends_a_process_that_hangs(root: Path, ended: Callable[..., str]) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    started_at = psutil.Process(process.pid).create_time()
    run_id = ended("running", pid=process.pid, started_at=started_at, heartbeat=time.time() - 60)
    assert "gave no sign" in jobs.status(run_id).sentence
    jobs.resume(run_id, by=MACHINE)
    assert process.wait(timeout=5) == -9
    assert jobs.status(run_id).state == "queued"


def test_pause_and_stop_ask_a_live_run(root: Path, ended: Callable[..., str]) -> None:
    me = this_process()
    run_id = ended("running", pid=me.pid, started_at=me.started_at, heartbeat=time.time())
    running = read_status(root / run_id)
    jobs.pause(run_id, by=MACHINE)
    assert read_request(root / run_id) == "pause"
    jobs.stop(run_id, by=MACHINE)
    assert read_request(root / run_id) == "stop"
    write_status(root / run_id, replace(running, state="stopped"))  # or it would be killed soon


def test_pause_and_stop_leave_an_end_as_it_is(root: Path, ended: Callable[..., str]) -> None:
    for state in ("finished", "failed", "stopped"):
        run_id = ended(state)
        jobs.pause(run_id, by=MACHINE)
        jobs.stop(run_id, by=MACHINE)
        assert jobs.status(run_id).state == state
        assert read_request(root / run_id) is None
    run_id = ended("paused")
    jobs.pause(run_id, by=MACHINE)
    assert jobs.status(run_id).state == "paused"
    jobs.stop(run_id, by=MACHINE)
    assert jobs.status(run_id).state == "stopped"


def test_extend_goes_on_in_a_new_run(root: Path, starts: Starts, ended: Callable[..., str]) -> None:
    run_id = ended("finished", 50)
    old = root / run_id
    write_checkpoint(old / "checkpoint.safetensors", Checkpoint(50, {}, {"step": 50}))
    (old / "metrics.jsonl").write_text('{"step": 50}\n')
    (old / "snapshots").mkdir()
    (old / "snapshots" / "00000050.safetensors").write_bytes(b"patterns")
    starts.clear()
    further = jobs.run_folder(jobs.extend(run_id, 1200, by=MACHINE))
    assert further.name == "Backwards to 1,200 steps"
    assert further.config().training.steps == 1200
    assert further.metrics() == [{"step": 50}]
    assert further.snapshots() == [50]
    assert (further.path / "checkpoint.safetensors").read_bytes() == (
        old / "checkpoint.safetensors"
    ).read_bytes()
    assert (jobs.status(further.id).state, jobs.status(further.id).steps) == ("queued", 1200)
    assert starts == [(further.id, this_process())]
    assert jobs.status(run_id).state == "finished"


def test_extend_refuses_what_cannot_go_further(root: Path, ended: Callable[..., str]) -> None:
    run_id = ended("finished", 50)
    with pytest.raises(ValueError, match="'Backwards' has no checkpoint to go on from"):
        jobs.extend(run_id, 100, by=MACHINE)
    write_checkpoint(root / run_id / "checkpoint.safetensors", Checkpoint(50, {}, {"step": 50}))
    with pytest.raises(JobRefused, match="steps=50 are done already: 'Backwards' has 50; give more"):
        jobs.extend(run_id, 50, by=MACHINE)
    with pytest.raises(ValueError, match="steps=20,000,000 is not within 1 to"):
        jobs.extend(run_id, 20_000_000, by=MACHINE)
    timed = continuation.Change(steps=100, training={"minutes": 0.04})
    with pytest.raises(
        JobRefused, match=r"minutes=0.04 are used up: 'Backwards' has trained for 0.1 minutes"
    ):
        jobs.extend(run_id, timed, by=MACHINE)
    assert len(list(root.glob("*/config.json"))) == 1


def test_delete_takes_only_what_has_ended(root: Path, starts: Starts, config: RunConfig) -> None:
    run_id = jobs.submit(config, by=MACHINE)
    with pytest.raises(JobRefused, match="is queued; stop it first"):
        jobs.delete(run_id, by=MACHINE)
    write_status(root / run_id, Status(state="stopped"))
    jobs.delete(run_id, by=MACHINE)
    assert not (root / run_id).exists()


@pytest.mark.parametrize("run_id", ["..", "a/b", ".slots", "none"])
def test_an_id_leads_nowhere_else(run_id: str, root: Path) -> None:
    (root / ".slots").mkdir(parents=True)
    with pytest.raises(FileError, match="there is no run"):
        jobs.status(run_id)


def test_a_folder_that_keeps_no_runs_says_so(
    root: Path, config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root.parent / "file").write_text("no folder")
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(root.parent / "file"))
    with pytest.raises(
        FileError, match=r"'.*file' is a file, but .*; let ATTENTION_LAB_RUNS name a folder, or unset"
    ):
        jobs.submit(config, by=MACHINE)
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(root.parent / "file" / "runs"))
    with pytest.raises(
        JobRefused, match=r"runs cannot be kept in '.*runs' \(Not a directory\); make it writ"
    ):
        jobs.submit(config, by=MACHINE)


def test_whoever_waits_too_long_for_the_others_is_told(
    root: Path, config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    with queue.submitting(root):
        monkeypatch.setattr(queue, "PATIENCE_SECONDS", 0.01)
        with pytest.raises(JobRefused, match="other runs are being started just now; try again in a moment"):
            jobs.submit(config, by=MACHINE)


def test_foreign_and_damaged_folders_hinder_nobody(root: Path, starts: Starts, config: RunConfig) -> None:
    for name, content in (("no-json", "{"), ("future", '{"version": 99}'), ("list", "[]")):
        (root / name).mkdir(parents=True)
        (root / name / "config.json").write_text(content)
        (root / name / "status.json").write_text(content)
        assert jobs.status(name).state == "failed"
    (root / "notes.txt").write_text("mine")
    (root / "empty").mkdir()
    assert jobs.status("empty").state == "stopped"
    with pytest.raises(FileError, match="holds no run"):
        jobs.resume("empty", by=MACHINE)
    with pytest.raises(FileError, match="is of version 99"):
        jobs.resume("future", by=MACHINE)
    run_id = jobs.submit(config, by=ANNA)
    assert jobs.status(run_id).state == "queued"


# Runs that are refused: known before they are asked for, and nothing is left of them.


def test_what_would_be_refused_is_known_before_and_leaves_nothing(
    root: Path, starts: Starts, config: RunConfig, set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.check(config, by=ANNA)
    assert not root.exists()  # a look makes nothing
    for _ in range(2):
        jobs.submit(config, by=ANNA)
    before = sorted(root.rglob("*"))
    for refused in (jobs.check, jobs.submit):
        with pytest.raises(JobRefused, match="of yours train or wait already"):
            refused(config, by=ANNA)
    jobs.check(config, by=BEN)
    set_limits(queue_length=2, visitor_minutes_a_day=30)
    for refused in (jobs.check, jobs.submit):
        with pytest.raises(JobRefused, match="2 runs wait already"):
            refused(config, by=BEN)
    assert len(starts) == 2
    set_limits(runs_gb=1)
    monkeypatch.setattr(queue, "SNAPSHOT_BYTES", GB)
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


# What the process of a run finds in its environment when it imports torch.

NAMES = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "KMP_BLOCKTIME")
REPORT = f"""
import json, os
import attention_lab.models.runs.worker
print(json.dumps([os.environ.get(name) for name in {NAMES}]))
"""


@pytest.mark.parametrize(("chosen", "policy"), [({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE")])
def test_a_worker_has_not_the_servers_one_thread_and_its_idle_threads_sleep(
    chosen: dict[str, str], policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name, value in {"OMP_NUM_THREADS": "1", **chosen}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(jobs, "WORKER", [sys.executable, "-c", REPORT])
    jobs._start(tmp_path, None)
    end = time.monotonic() + 60
    while not (said := (tmp_path / LOG).read_text()).endswith("\n"):
        assert time.monotonic() < end, "the process says nothing"
        time.sleep(0.02)
    assert json.loads(said) == [None, policy, "0"]
