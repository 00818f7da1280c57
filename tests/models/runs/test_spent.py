"""The minutes that a visitor's runs have trained within a day."""

import json
import time
from pathlib import Path

import pytest

from models.runs import limits, spent
from models.runs.limits import JobRefused
from models.runs.owners import MACHINE, Ownership, Visitor, write_owned
from models.runs.status import Status
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
