"""Who trains now, who waits, and in which order."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from attention_lab.models.runs import jobs, queue
from attention_lab.models.runs.folder import RunFolder, Status, read_status, write_status
from attention_lab.models.runs.owners import MACHINE, Ownership, Visitor, write_owned
from attention_lab.models.runs.queue import JobRefused, Slot
from attention_lab.models.runs.worker import Watch
from tests.limits import SetLimits


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


def enter_waiting(root: Path, run_id: str, kind: queue.Kind = "cpu") -> None:
    (root / run_id).mkdir()
    write_status(root / run_id, Status(state="queued", heartbeat=time.time()))
    queue.enter(root, run_id, kind)


def test_the_oldest_trains_first_and_the_others_count_who_is_before_them(root: Path) -> None:
    for run_id in ("b", "a", "c"):
        enter_waiting(root, run_id)
    assert [ticket.run_id for ticket in queue.waiting(root)] == ["b", "a", "c"]
    assert queue.take(root, "a", "cpu") == 1
    assert queue.take(root, "c", "cpu") == 2
    first = queue.take(root, "b", "cpu")
    assert isinstance(first, Slot)
    assert queue.take(root, "a", "cpu") == 0  # its turn, but the slot is taken
    first.lock.release()
    second = queue.take(root, "a", "cpu")
    assert isinstance(second, Slot)
    assert [ticket.run_id for ticket in queue.waiting(root)] == ["c"]
    second.lock.release()


def test_each_kind_has_its_own_queue(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    for run_id, kind in (("a", "gpu"), ("b", "gpu"), ("c", "gpu"), ("d", "cpu")):
        enter_waiting(root, run_id, kind)
    taken = [queue.take(root, run_id, kind) for run_id, kind in (("d", "cpu"), ("a", "gpu"), ("b", "gpu"))]
    assert all(isinstance(slot, Slot) for slot in taken)
    assert [(slot.kind, slot.index) for slot in taken] == [("cpu", 0), ("gpu", 0), ("gpu", 1)]
    assert queue.take(root, "c", "gpu") == 0
    for slot in taken:
        slot.lock.release()


def test_the_cpu_has_as_many_slots_as_the_limits_say(root: Path, set_limits: SetLimits) -> None:
    assert queue.n_slots("cpu") == 1
    set_limits(cpu_jobs=2)
    enter_waiting(root, "a")
    enter_waiting(root, "b")
    taken = [queue.take(root, run_id, "cpu") for run_id in ("a", "b")]
    assert [slot.index for slot in taken] == [0, 1]
    for slot in taken:
        slot.lock.release()


def test_who_has_died_waits_no_more(root: Path) -> None:
    for run_id in ("dead", "gone", "alive"):
        enter_waiting(root, run_id)
    write_status(root / "dead", Status(state="queued", pid=2**22 + 1, started_at=1.0, heartbeat=time.time()))
    (root / "gone" / "status.json").unlink()
    (root / ".slots" / "queue" / "notes.txt").write_text("not a ticket")
    assert [ticket.run_id for ticket in queue.waiting(root)] == ["alive"]
    assert sorted(path.name[-5:] for path in (root / ".slots" / "queue").iterdir()) == ["alive", "s.txt"]


def test_who_leaves_waits_no_more(root: Path) -> None:
    enter_waiting(root, "a")
    enter_waiting(root, "ba")
    queue.leave(root, "a")
    assert [ticket.run_id for ticket in queue.waiting(root)] == ["ba"]
    assert queue.waiting(root / "nothing here") == []


@pytest.mark.parametrize(
    ("visible", "gpus"),
    [("", []), ("-1", []), ("0", ["0"]), ("2, 3", ["2", "3"]), ("0,-1,1", ["0"]), ("GPU-ab", ["GPU-ab"])],
)
def test_gpus_are_those_that_cuda_sees(
    visible: str, gpus: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(queue.sys, "platform", "linux")
    assert queue.visible_gpus() == gpus
    kind = "gpu" if gpus else "cpu"
    assert [queue.kind_for(device) for device in ("auto", "cuda", "cpu", "mps")] == [kind, kind, "cpu", "cpu"]


def test_a_mac_has_one_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr(queue.sys, "platform", "darwin")
    monkeypatch.setattr(queue.platform, "machine", lambda: "arm64")
    assert [queue.kind_for(device) for device in ("auto", "mps", "cpu")] == ["mps", "mps", "cpu"]
    assert queue.n_slots("mps") == 1


def test_stopping_runs_keep_their_place_until_they_have_ended(root: Path) -> None:
    enter_waiting(root, "a")
    now = Status(state="stopping", heartbeat=time.time())
    write_status(root / "a", now)
    assert len(queue.waiting(root)) == 1
    write_status(root / "a", replace(now, state="paused"))
    assert queue.waiting(root) == []


ANNA = Visitor("anna")


def test_stretches_add_up_for_a_day_and_each_visitor(tmp_path: Path) -> None:
    queue.note(tmp_path, "anna", 90.0)
    queue.note(tmp_path, "anna", 30.0)
    queue.note(tmp_path, "ben", 60.0)
    assert (queue.minutes_spent(tmp_path, "anna"), queue.minutes_spent(tmp_path, "ben")) == (2.0, 1.0)
    assert queue.hours_until_less(tmp_path, "anna") == pytest.approx(24, abs=0.1)
    path = tmp_path / ".minutes" / "anna.jsonl"
    old = {"at": time.time() - 90_000, "seconds": 6_000}
    path.write_text(
        path.read_text() + json.dumps(old) + '\nno JSON\n{"at": "now", "seconds": 1}\n{"at": 1}\n'
    )
    assert queue.minutes_spent(tmp_path, "anna") == 2.0
    queue.note(tmp_path, "anna", 60.0)
    assert len(path.read_text().splitlines()) == 3
    for no_name in ("", "../anna", "a/b"):
        queue.note(tmp_path, no_name, 60.0)
        assert queue.minutes_spent(tmp_path, no_name) == 0
    assert sorted(file.name for file in tmp_path.rglob("*.jsonl")) == ["anna.jsonl", "ben.jsonl"]


def test_a_visitor_has_what_is_left_of_a_day_and_a_teacher_any(tmp_path: Path, set_limits: SetLimits) -> None:
    set_limits(visitor_minutes=30, visitor_minutes_a_day=60)
    assert queue.check_minutes(tmp_path, ANNA) == 30
    queue.note(tmp_path, "anna", 40 * 60)
    assert queue.check_minutes(tmp_path, ANNA) == 20
    queue.note(tmp_path, "anna", 19.5 * 60)
    with pytest.raises(JobRefused) as refused:
        queue.check_minutes(tmp_path, ANNA)
    assert str(refused.value) == (
        "your runs trained for 60 minutes within a day, and at most 60 are yours; "
        "come again in 24 hours, or ask your teacher"
    )
    assert queue.check_minutes(tmp_path, Visitor("anna", all_rights=True)) == 0
    assert queue.check_minutes(tmp_path, MACHINE) == 0


@pytest.mark.parametrize(("minutes", "counted"), [(5, True), (0, False)])
def test_a_run_counts_from_its_slot_to_its_end(tmp_path: Path, minutes: int, counted: bool) -> None:
    run = tmp_path / "a-run"
    run.mkdir()
    write_owned(run, Ownership(owner="anna", minutes=minutes))
    with Watch(run, Status(state="queued"), minutes=minutes) as watch:
        time.sleep(0.2)  # it waits
        watch.starts("loads PyTorch")
        time.sleep(0.3)
        watch.finish("finished")
    seconds = 60 * queue.minutes_spent(tmp_path, "anna")
    assert (0.2 < seconds < 5) if counted else seconds == 0


def killed(root: Path, run_id: str, seconds: float, *, ago: float = 60.0) -> Path:
    """A run of anna's whose process was killed so long ago, after so many seconds in its slot."""
    run = root / run_id
    run.mkdir()
    (run / "config.json").write_text(json.dumps({"version": 1, "name": run_id, "task": {}, "model": {}}))
    write_owned(run, Ownership(owner="anna", minutes=30))
    now = time.time() - ago
    status = Status(state="running", pid=1, started_at=1.0, heartbeat=now, unnoted=seconds)
    write_status(run, status)
    return run


def test_a_live_run_says_what_it_has_used_and_notes_it_once(tmp_path: Path) -> None:
    run = killed(tmp_path, "a-run", 0.0)
    with Watch(run, Status(state="queued"), minutes=5) as watch:
        watch.starts("loads PyTorch")
        time.sleep(0.3)
        watch.note()
        assert 0.2 < watch.status.unnoted < 5
        assert 60 * queue.minutes_spent(tmp_path, "anna") == pytest.approx(watch.status.unnoted)
        watch.finish("finished")
        assert watch.status.unnoted == 0
    assert 0.2 < 60 * queue.minutes_spent(tmp_path, "anna") < 5


def test_what_a_killed_run_has_used_counts_once_before_and_after_it_is_deleted_or_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    deleted, resumed = killed(tmp_path, "deleted", 600.0), killed(tmp_path, "resumed", 300.0)
    killed(tmp_path, "old", 6_000.0, ago=90_000.0)
    assert (
        queue.minutes_spent(tmp_path, "anna") == pytest.approx(15)
        and queue.minutes_spent(tmp_path, "ben") == 0
    )
    assert queue.hours_until_less(tmp_path, "anna") == pytest.approx(24, abs=0.1)
    jobs.delete("deleted", by=ANNA)
    assert not deleted.exists() and queue.minutes_spent(tmp_path, "anna") == pytest.approx(15)
    queue.note_killed(resumed)
    write_status(resumed, Status(state="queued"))  # as the backend does next
    assert queue.minutes_spent(tmp_path, "anna") == pytest.approx(15)
    lines = (tmp_path / ".minutes" / "anna.jsonl").read_text().splitlines()
    assert [json.loads(line)["seconds"] for line in lines] == [600, 300]


def test_resuming_a_killed_run_keeps_what_it_has_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = killed(tmp_path, "a-run", 300.0)
    monkeypatch.setattr(RunFolder, "description", lambda self: {"training": {"steps": 1, "device": "cpu"}})
    monkeypatch.setattr(jobs, "_start", lambda folder, parent: None)
    jobs.LocalBackend(tmp_path).submit("a-run")
    assert read_status(run).unnoted == 0
    assert queue.minutes_spent(tmp_path, "anna") == pytest.approx(5)
