"""Whose a run is, and what others may do with it: where the act is done, whoever asks for it and however."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attention_lab.models.runs import jobs, queue
from attention_lab.models.runs.checkpoints import Checkpoint, write_checkpoint
from attention_lab.models.runs.folder import Status, create_run, write_status
from attention_lab.models.runs.owners import (
    MACHINE,
    OWNER,
    PERSON,
    NotAllowed,
    Ownership,
    Visitor,
    may_change,
    may_see,
    ownership_of,
)
from attention_lab.models.runs.queue import JobRefused
from attention_lab.models.training.config import RunConfig
from tests.limits import SetLimits
from tests.small_runs import small_run

ANNA, BEN = Visitor("anna"), Visitor("ben")
TEACHER, STRANGER = Visitor("c3", all_rights=True), Visitor()
ACTS: dict[str, Callable[[str, Visitor], object]] = {
    "stop it": lambda run_id, by: jobs.stop(run_id, by=by),
    "pause it": lambda run_id, by: jobs.pause(run_id, by=by),
    "resume it": lambda run_id, by: jobs.resume(run_id, by=by),
    "train it further": lambda run_id, by: jobs.extend(run_id, 99, by=by),
    "rename it": lambda run_id, by: jobs.rename(run_id, "other", by=by),
    "share it": lambda run_id, by: jobs.share(run_id, shared=True, by=by),
    "delete it": lambda run_id, by: jobs.delete(run_id, by=by),
}


@pytest.fixture(autouse=True)
def no_process(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is started."""
    monkeypatch.setattr(jobs, "_start", lambda folder, parent: None)


def config(**training: Any) -> RunConfig:
    return small_run(**{"steps": 50, "device": "auto", **training})


def ended(root: Path, by: Visitor, state: str = "paused") -> str:
    """A run of this visitor that has come to step 20, with a checkpoint."""
    run_id = jobs.submit(config(), name="Hers", by=by)
    queue.leave(root, run_id)
    write_status(root / run_id, Status(state=state, step=20, steps=50))
    write_checkpoint(root / run_id / "checkpoint.safetensors", Checkpoint(20, {}, {}))
    return run_id


@pytest.mark.parametrize("by", [BEN, STRANGER])
@pytest.mark.parametrize("act", list(ACTS))
def test_nobody_acts_on_another_visitors_run(root: Path, act: str, by: Visitor) -> None:
    run_id = ended(root, ANNA)
    before = {path.name: path.read_bytes() for path in (root / run_id).iterdir() if path.is_file()}
    with pytest.raises(NotAllowed) as refused:
        ACTS[act](run_id, by)
    sentence = f"this run is another visitor's: only its owner and a teacher may {act}"
    assert str(refused.value) == sentence
    jobs.share(run_id, shared=True, by=ANNA)
    with pytest.raises(NotAllowed, match=sentence):  # to look at a shared run is no right to change it
        ACTS[act](run_id, by)
    jobs.share(run_id, shared=False, by=ANNA)
    assert before == {path.name: path.read_bytes() for path in (root / run_id).iterdir() if path.is_file()}
    assert len(list(root.glob("*/config.json"))) == 1


@pytest.mark.parametrize("by", [ANNA, TEACHER, MACHINE, PERSON])
@pytest.mark.parametrize("act", list(ACTS))
def test_owner_teacher_and_machine_may(root: Path, act: str, by: Visitor) -> None:
    run_id = ended(root, ANNA)
    ACTS[act](run_id, by)
    if act != "delete it":
        assert ownership_of(root / run_id).owner == ANNA.id


def test_a_run_is_seen_by_its_owner_and_a_teacher_until_it_is_shared(root: Path) -> None:
    path = root / ended(root, ANNA)
    assert [may_see(path, by) for by in (ANNA, TEACHER, PERSON, BEN, STRANGER)] == [True] * 3 + [False] * 2
    jobs.share(path.name, shared=True, by=ANNA)
    assert may_see(path, BEN) and may_see(path, STRANGER)
    assert not may_change(path, BEN)


def test_a_run_of_nobody_is_the_machines(root: Path) -> None:
    path = create_run(config()).path
    assert ownership_of(path) == Ownership()
    assert not may_see(path, STRANGER) and not may_see(path, ANNA)
    assert may_change(path, TEACHER) and may_change(path, PERSON)


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"version": 9, "owner": "ben"}', '{"version": 1, "owner": ["ben"], "shared": 1}']
)
def test_a_damaged_owner_gives_nobody_a_right(root: Path, content: str) -> None:
    path = create_run(config()).path
    (path / OWNER).write_text(content)
    assert ownership_of(path) == Ownership()
    assert not may_see(path, BEN)


def test_what_holds_the_owner_is_deleted_with_the_run_and_training_does_not_know_it(root: Path) -> None:
    run_id = ended(root, ANNA)
    assert json.loads((root / run_id / OWNER).read_text())["owner"] == ANNA.id
    assert ANNA.id not in (root / run_id / "config.json").read_text()
    jobs.delete(run_id, by=ANNA)
    assert not (root / run_id).exists()


def test_training_further_meets_the_limit_of_live_runs(root: Path) -> None:
    old = ended(root, ANNA, "finished")
    further = [jobs.extend(old, steps, by=ANNA) for steps in (60, 70)]
    assert [ownership_of(root / run_id).owner for run_id in further] == [ANNA.id] * 2
    for act in (lambda: jobs.extend(old, 80, by=ANNA), lambda: jobs.submit(config(), by=ANNA)):
        with pytest.raises(JobRefused, match="there may be"):
            act()
    jobs.submit(config(), by=BEN)


def test_the_person_at_the_machine_has_the_same_limit(root: Path) -> None:
    for _ in range(2):
        jobs.submit(config(), by=PERSON)
    with pytest.raises(JobRefused, match="the most there"):
        jobs.submit(config(), by=PERSON)


def test_a_visitors_run_has_so_many_steps_and_minutes(root: Path, set_limits: SetLimits) -> None:
    set_limits(visitor_steps=40, visitor_minutes=7)
    with pytest.raises(JobRefused, match="steps=50, but a visitor's run has at most 40; take fewer steps"):
        jobs.submit(config(), by=ANNA)
    run_id = jobs.submit(config(steps=40), by=ANNA)
    assert ownership_of(root / run_id) == Ownership(owner=ANNA.id, minutes=7)
    queue.leave(root, run_id)
    write_status(root / run_id, Status(state="paused", step=20, steps=40))
    write_checkpoint(root / run_id / "checkpoint.safetensors", Checkpoint(20, {}, {}))
    with pytest.raises(JobRefused, match="steps=10,000,000, but a visitor's run has at most 40"):
        jobs.extend(run_id, 10_000_000, by=ANNA)
    jobs.resume(run_id, by=TEACHER)
    assert ownership_of(root / run_id) == Ownership(owner=ANNA.id, minutes=0)
    assert jobs.submit(config(steps=10_000_000), by=TEACHER, keep_going=True)


def test_a_visitors_runs_have_so_much_disk_together(root: Path, set_limits: SetLimits) -> None:
    set_limits(visitor_runs_mb=60)
    run_id = ended(root, ANNA)
    with (root / run_id / "checkpoint.safetensors").open("r+b") as file:
        file.truncate(50 * 10**6)
    with pytest.raises(JobRefused) as refused:
        jobs.submit(config(), by=ANNA)
    assert str(refused.value) == (
        "this run needs up to 24 MB, and your runs together have 50 MB of 60 MB; "
        "delete some (the largest is 'Hers' with 50 MB), or choose a smaller model"
    )
    jobs.submit(config(), by=BEN)
    jobs.submit(config(), by=TEACHER)


def test_who_is_told_of_a_full_disk_is_told_no_run_of_others(root: Path, set_limits: SetLimits) -> None:
    run_id = ended(root, ANNA)
    with (root / run_id / "checkpoint.safetensors").open("r+b") as file:
        file.truncate(10**9)
    set_limits(runs_gb=1)
    with pytest.raises(
        JobRefused, match=r"all runs together have 1\.0 GB of 1\.0 GB; choose a smaller model$"
    ):
        jobs.submit(config(), by=BEN)
    with pytest.raises(
        JobRefused, match=r"\(the largest is 'Hers' with 1\.0 GB\).* or set runs_gb higher in"
    ):
        jobs.submit(config(), by=TEACHER)


def test_what_a_visitor_must_not_start(root: Path, set_limits: SetLimits) -> None:
    with pytest.raises(JobRefused, match="your browser keeps no cookie of this"):
        jobs.submit(config(), by=STRANGER)
    with pytest.raises(JobRefused, match="only a teacher's runs go on when the server stops"):
        jobs.submit(config(), by=ANNA, keep_going=True)
    with pytest.raises(JobRefused, match=r"threads=65, and at most 64 are given here; try 64, or 0 for all"):
        jobs.submit(config(threads=65), by=TEACHER)
    paused = ended(root, ANNA)
    set_limits(read_only=True)
    for by in (ANNA, TEACHER, PERSON, MACHINE):
        with pytest.raises(JobRefused, match="read-only: it trains nothing"):
            jobs.submit(config(), by=by)
        with pytest.raises(JobRefused, match="read-only"):
            jobs.resume(paused, by=TEACHER)
    assert len(list(root.glob("*/config.json"))) == 1
    jobs.delete(paused, by=ANNA)
