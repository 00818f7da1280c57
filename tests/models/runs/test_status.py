"""What a run's file says, and what to make of a process that says nothing more."""

import errno
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from attention_lab.models.byte_units import GB, MB
from attention_lab.models.runs import folder as module
from attention_lab.models.runs.folder import (
    CUT_SHORT,
    LOST,
    SILENT_SECONDS,
    START_SECONDS,
    Cause,
    Status,
    hanging,
    judge,
    read_request,
    read_status,
    write_request,
    write_status,
)
from attention_lab.models.runs.processes import this_process

ME = this_process()
ENDS = ("paused", "finished", "stopped", "failed")
RUNNING = Status(
    state="running", step=7, steps=100, pid=ME.pid, started_at=ME.started_at, heartbeat=1000.0, seconds=3.5,
    memory=GB, free=9 * GB,
)  # fmt: skip


def test_what_was_written_is_read(tmp_path: Path) -> None:
    now = replace(RUNNING, heartbeat=time.time(), sentence="trains on the CPU", keep_going=True)
    write_status(tmp_path, now)
    assert read_status(tmp_path) == now
    assert now.process == ME._replace(born="")
    assert json.loads((tmp_path / "status.json").read_text())["version"] == 1


def test_a_folder_without_status_is_nobody_s(tmp_path: Path) -> None:
    found = read_status(tmp_path)
    assert (found.state, found.live) == ("stopped", False)
    assert found.sentence == "no process has worked here; resume starts one"


STARVED = replace(RUNNING, memory=6 * GB, free=100 * MB, smaller="try batch_size=8")
SUDDEN, STOPPING = replace(RUNNING, oom_kills=3), replace(RUNNING, state="stopping", asked="stop")
QUEUED = Status(state="queued", heartbeat=1000.0)
KILLED = "the process ended without a word at step 7 (killed?); resume goes on from the last checkpoint"
FOR_MEMORY = (
    "the process was killed, most likely for lack of memory: it held 6.0 GB, and 100 MB were left; "
    "try batch_size=8"
)


@pytest.mark.parametrize(
    ("status", "request_", "later", "alive", "oom_kills", "state", "sentence"),
    [
        (RUNNING, None, SILENT_SECONDS, True, 0, "running", ""),
        (RUNNING, None, SILENT_SECONDS + 1, True, 0, "failed", "gave no sign for 16 seconds"),
        (RUNNING, None, 1, False, 0, "failed", KILLED),
        (RUNNING, "pause", 1, False, 0, "paused", CUT_SHORT),
        (STOPPING, None, 1, False, 0, "stopped", CUT_SHORT),
        (STARVED, None, 1, False, 0, "failed", FOR_MEMORY),
        (SUDDEN, None, 1, False, 3, "failed", KILLED),
        (SUDDEN, None, 1, False, 4, "failed", "most likely for lack of memory"),
        (QUEUED, None, START_SECONDS, False, 0, "queued", ""),
        (QUEUED, None, START_SECONDS + 1, False, 0, "failed", "its process did not start; log.txt"),
        *((replace(RUNNING, state=end), "stop", 9e9, False, 0, end, "") for end in ENDS),
    ],
)
def test_what_a_silent_process_means(status, request_, later, alive, oom_kills, state, sentence):
    found = judge(status, request_, now=1000.0 + later, alive=lambda process: alive, oom_kills=oom_kills)
    assert found.state == state and sentence in found.sentence
    assert found == status or status.live


@pytest.mark.parametrize(
    ("status", "request_", "later", "alive", "cause"),
    [
        (RUNNING, None, 1, False, Cause.KILLED),
        (STARVED, None, 1, False, Cause.MEMORY),
        (RUNNING, None, SILENT_SECONDS + 1, True, Cause.SILENT),
        (QUEUED, None, START_SECONDS + 1, False, Cause.SILENT),
        (replace(RUNNING, node="10.0.0.7"), None, 31, False, Cause.CLUSTER),
        (RUNNING, "pause", 1, False, Cause.PERSON),
        (replace(STOPPING, asked="pause", cause=Cause.SERVER), None, 1, False, Cause.SERVER),
        (replace(RUNNING, state="finished", cause=Cause.GREW), None, 1, False, Cause.GREW),
    ],
)
def test_programs_read_the_cause_and_never_the_sentence(status, request_, later, alive, cause):
    found = judge(status, request_, now=1000.0 + later, alive=lambda process: alive)
    assert found.cause == cause and (found.cause in LOST) == (found.state == "failed" and not found.node)


def test_the_cause_is_written_and_older_files_have_none(tmp_path: Path) -> None:
    write_status(tmp_path, replace(RUNNING, state="paused", cause=Cause.TIME))
    assert json.loads((tmp_path / "status.json").read_text())["cause"] == "time"
    assert read_status(tmp_path).cause is Cause.TIME
    (tmp_path / "status.json").write_text('{"version": 1, "state": "paused"}')
    assert read_status(tmp_path).cause is Cause.NONE


def test_a_running_process_with_a_reused_number_has_failed(tmp_path: Path) -> None:
    write_status(tmp_path, replace(RUNNING, started_at=ME.started_at - 3600, heartbeat=time.time()))
    assert read_status(tmp_path).state == "failed"


def test_only_a_silent_live_process_hangs(tmp_path: Path) -> None:
    write_status(tmp_path, replace(RUNNING, heartbeat=time.time()))
    assert hanging(tmp_path) is None
    write_status(tmp_path, RUNNING)
    assert hanging(tmp_path) == ME._replace(born="")
    write_status(tmp_path, replace(RUNNING, started_at=ME.started_at - 3600))
    assert hanging(tmp_path) is None
    write_status(tmp_path, replace(RUNNING, state="finished"))
    assert hanging(tmp_path) is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "is no JSON"),
        ('{"version": 1}', "it has no state"),
        ('{"version": 1, "state": "asleep"}', "state='asleep'"),
        ('{"version": 1, "state": "failed", "cause": "the moon"}', "cause='the moon'"),
        ('{"version": 1, "state": "running", "step": -3, "pid": "x"}', "step=-3, pid='x'"),
        ('{"version": 1, "state": "running", "heartbeat": NaN}', "heartbeat=nan"),
        ('{"version": 2, "state": "running"}', "is of version 2, but this program reads up to 1"),
    ],
)
def test_a_damaged_or_newer_file_has_failed(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "status.json").write_text(content)
    found = read_status(tmp_path)
    assert found.state == "failed"
    assert says in found.sentence
    assert found.sentence.endswith("resume goes on from the last checkpoint")


def test_fields_of_others_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "status.json").write_text('{"version": 1, "state": "finished", "mood": "good"}')
    assert read_status(tmp_path) == Status(state="finished")


def test_requests(tmp_path: Path) -> None:
    assert read_request(tmp_path) is None
    write_request(tmp_path, "pause")
    assert read_request(tmp_path) == "pause"
    (tmp_path / "request.json").write_text('{"ask": "rm -rf"}')
    assert read_request(tmp_path) is None
    (tmp_path / "request.json").write_text("{")
    assert read_request(tmp_path) is None


def test_on_a_full_disk_the_old_file_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_status(tmp_path, replace(RUNNING, sentence="a longer sentence than the next" * 3))

    def full(path: Path, values: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "write_json", full)
    write_status(tmp_path, replace(RUNNING, state="failed", sentence="the disk is full"))
    monkeypatch.undo()
    assert read_status(tmp_path) == replace(RUNNING, state="failed", sentence="the disk is full")
    with pytest.raises(OSError):
        write_status(tmp_path / "gone", RUNNING)


@pytest.mark.skipif(not ME.born, reason="this system does not tell when a process began")
@pytest.mark.parametrize("hours", [-2, 2])
def test_a_clock_that_is_set_ends_no_run(tmp_path: Path, hours: int) -> None:
    """It was set by hours since the process began, and since its last sign of a second ago."""
    moved = 3600 * hours
    status = replace(
        RUNNING, born=ME.born, started_at=ME.started_at + moved, heartbeat=time.time() + moved,
        up=time.monotonic() - 1,
    )  # fmt: skip
    write_status(tmp_path, status)
    assert read_status(tmp_path).state == "running"
    assert hanging(tmp_path) is None
    write_status(tmp_path, replace(status, up=time.monotonic() - 60))
    assert "gave no sign for 60 seconds" in read_status(tmp_path).sentence
    assert hanging(tmp_path) == status.process
