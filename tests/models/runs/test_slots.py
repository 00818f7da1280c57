"""Who trains now, who waits, and in which order."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import Timeout

from models.runs import slots
from models.runs.slots import Slot
from models.runs.status import Status, write_status
from tests.limits import SetLimits


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


def queue(root: Path, run_id: str, kind: slots.Kind = "cpu") -> None:
    (root / run_id).mkdir()
    write_status(root / run_id, Status(state="queued", heartbeat=time.time()))
    slots.enter(root, run_id, kind)


def test_the_oldest_trains_first_and_the_others_count_who_is_before_them(root: Path) -> None:
    for run_id in ("b", "a", "c"):
        queue(root, run_id)
    assert [ticket.run_id for ticket in slots.waiting(root)] == ["b", "a", "c"]
    assert slots.take(root, "a", "cpu") == 1
    assert slots.take(root, "c", "cpu") == 2
    first = slots.take(root, "b", "cpu")
    assert isinstance(first, Slot)
    assert slots.take(root, "a", "cpu") == 0  # its turn, but the slot is taken
    first.release()
    second = slots.take(root, "a", "cpu")
    assert isinstance(second, Slot)
    assert [ticket.run_id for ticket in slots.waiting(root)] == ["c"]
    second.release()


def test_each_kind_has_its_own_queue(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    for run_id, kind in (("a", "gpu"), ("b", "gpu"), ("c", "gpu"), ("d", "cpu")):
        queue(root, run_id, kind)
    taken = [slots.take(root, run_id, kind) for run_id, kind in (("d", "cpu"), ("a", "gpu"), ("b", "gpu"))]
    assert all(isinstance(slot, Slot) for slot in taken)
    assert [(slot.kind, slot.index) for slot in taken] == [("cpu", 0), ("gpu", 0), ("gpu", 1)]
    assert slots.take(root, "c", "gpu") == 0
    for slot in taken:
        slot.release()


def test_the_cpu_has_as_many_slots_as_the_limits_say(root: Path, set_limits: SetLimits) -> None:
    assert slots.n_slots("cpu") == 1
    set_limits(cpu_jobs=2)
    queue(root, "a")
    queue(root, "b")
    taken = [slots.take(root, run_id, "cpu") for run_id in ("a", "b")]
    assert [slot.index for slot in taken] == [0, 1]
    for slot in taken:
        slot.release()


def test_who_has_died_waits_no_more(root: Path) -> None:
    for run_id in ("dead", "gone", "alive"):
        queue(root, run_id)
    write_status(root / "dead", Status(state="queued", pid=2**22 + 1, started_at=1.0, heartbeat=time.time()))
    (root / "gone" / "status.json").unlink()
    (root / ".slots" / "queue" / "notes.txt").write_text("not a ticket")
    assert [ticket.run_id for ticket in slots.waiting(root)] == ["alive"]
    assert sorted(path.name[-5:] for path in (root / ".slots" / "queue").iterdir()) == ["alive", "s.txt"]


def test_who_leaves_waits_no_more(root: Path) -> None:
    queue(root, "a")
    queue(root, "ba")
    slots.leave(root, "a")
    assert [ticket.run_id for ticket in slots.waiting(root)] == ["ba"]
    assert slots.waiting(root / "nothing here") == []


def test_two_submissions_at_once_wait_for_each_other(root: Path) -> None:
    with slots.submitting(root), pytest.raises(Timeout):
        slots.submitting(root).acquire(timeout=0.01)


@pytest.mark.parametrize(
    ("visible", "gpus"),
    [("", []), ("-1", []), ("0", ["0"]), ("2, 3", ["2", "3"]), ("0,-1,1", ["0"]), ("GPU-ab", ["GPU-ab"])],
)
def test_gpus_are_those_that_cuda_sees(
    visible: str, gpus: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(slots.sys, "platform", "linux")
    assert slots.visible_gpus() == gpus
    kind = "gpu" if gpus else "cpu"
    assert [slots.kind_for(device) for device in ("auto", "cuda", "cpu", "mps")] == [kind, kind, "cpu", "cpu"]


def test_a_mac_has_one_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr(slots.sys, "platform", "darwin")
    monkeypatch.setattr(slots.platform, "machine", lambda: "arm64")
    assert [slots.kind_for(device) for device in ("auto", "mps", "cpu")] == ["mps", "mps", "cpu"]
    assert slots.n_slots("mps") == 1


def test_stopping_runs_keep_their_place_until_they_have_ended(root: Path) -> None:
    queue(root, "a")
    now = Status(state="stopping", heartbeat=time.time())
    write_status(root / "a", now)
    assert len(slots.waiting(root)) == 1
    write_status(root / "a", replace(now, state="paused"))
    assert slots.waiting(root) == []
