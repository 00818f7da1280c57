"""The minutes that a visitor's runs have trained within a day."""

import json
import time
from pathlib import Path

import pytest

from models.runs import jobs, limits, local, spent
from models.runs.folder import RunFolder
from models.runs.limits import JobRefused
from models.runs.owners import MACHINE, Ownership, Visitor, write_owned
from models.runs.status import Status, read_status, write_status
from models.runs.watch import Watch
from tests.limits import SetLimits

ANNA = Visitor("anna")


def test_stretches_add_up_for_a_day_and_each_visitor(tmp_path: Path) -> None:
    spent.note(tmp_path, "anna", 90.0)
    spent.note(tmp_path, "anna", 30.0)
    spent.note(tmp_path, "ben", 60.0)
    assert (spent.minutes(tmp_path, "anna"), spent.minutes(tmp_path, "ben")) == (2.0, 1.0)
    assert spent.hours_until_less(tmp_path, "anna") == pytest.approx(24, abs=0.1)
    path = tmp_path / ".minutes" / "anna.jsonl"
    old = {"at": time.time() - 90_000, "seconds": 6_000}
    path.write_text(
        path.read_text() + json.dumps(old) + '\nno JSON\n{"at": "now", "seconds": 1}\n{"at": 1}\n'
    )
    assert spent.minutes(tmp_path, "anna") == 2.0
    spent.note(tmp_path, "anna", 60.0)
    assert len(path.read_text().splitlines()) == 3
    for no_name in ("", "../anna", "a/b"):
        spent.note(tmp_path, no_name, 60.0)
        assert spent.minutes(tmp_path, no_name) == 0
    assert sorted(file.name for file in tmp_path.rglob("*.jsonl")) == ["anna.jsonl", "ben.jsonl"]


def test_a_visitor_has_what_is_left_of_a_day_and_a_teacher_any(tmp_path: Path, set_limits: SetLimits) -> None:
    set_limits(visitor_minutes=30, visitor_minutes_a_day=60)
    assert limits.check_minutes(tmp_path, ANNA) == 30
    spent.note(tmp_path, "anna", 40 * 60)
    assert limits.check_minutes(tmp_path, ANNA) == 20
    spent.note(tmp_path, "anna", 19.5 * 60)
    with pytest.raises(JobRefused) as refused:
        limits.check_minutes(tmp_path, ANNA)
    assert str(refused.value) == (
        "your runs trained for 60 minutes within a day, and at most 60 are yours; "
        "come again in 24 hours, or ask your teacher to train it"
    )
    assert limits.check_minutes(tmp_path, Visitor("anna", all_rights=True)) == 0
    assert limits.check_minutes(tmp_path, MACHINE) == 0


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
    seconds = 60 * spent.minutes(tmp_path, "anna")
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
        assert 60 * spent.minutes(tmp_path, "anna") == pytest.approx(watch.status.unnoted)
        watch.finish("finished")
        assert watch.status.unnoted == 0
    assert 0.2 < 60 * spent.minutes(tmp_path, "anna") < 5


def test_what_a_killed_run_has_used_counts_once_before_and_after_it_is_deleted_or_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    deleted, resumed = killed(tmp_path, "deleted", 600.0), killed(tmp_path, "resumed", 300.0)
    killed(tmp_path, "old", 6_000.0, ago=90_000.0)
    assert spent.minutes(tmp_path, "anna") == pytest.approx(15) and spent.minutes(tmp_path, "ben") == 0
    assert spent.hours_until_less(tmp_path, "anna") == pytest.approx(24, abs=0.1)
    jobs.delete("deleted", by=ANNA)
    assert not deleted.exists() and spent.minutes(tmp_path, "anna") == pytest.approx(15)
    spent.note_killed(resumed)
    write_status(resumed, Status(state="queued"))  # as the backend does next
    assert spent.minutes(tmp_path, "anna") == pytest.approx(15)
    lines = (tmp_path / ".minutes" / "anna.jsonl").read_text().splitlines()
    assert [json.loads(line)["seconds"] for line in lines] == [600, 300]


def test_resuming_a_killed_run_keeps_what_it_has_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = killed(tmp_path, "a-run", 300.0)
    monkeypatch.setattr(RunFolder, "description", lambda self: {"training": {"steps": 1, "device": "cpu"}})
    monkeypatch.setattr(local, "_start", lambda folder, parent: None)
    local.LocalBackend(tmp_path).submit("a-run")
    assert read_status(run).unnoted == 0
    assert spent.minutes(tmp_path, "anna") == pytest.approx(5)
