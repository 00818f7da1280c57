"""Which run a first visit opens."""

from dataclasses import replace
from pathlib import Path

import pytest

from attention_lab.models.runs.folder import RunFolder, Status, write_status
from attention_lab.models.runs.owners import PERSON, Ownership, Visitor, write_owned
from attention_lab.pages.runs import state
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.training.runs import Run
from tests.pages.shared.training.conftest import MakeRun

SHIPPED = Run(state.FIRST, RunFolder(Path("models/zoo/induction/run")), shipped=True)


def test_a_first_visit_opens_the_newest_own_run_that_is_live_or_finished(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest, older = make_run("reverse", "newest"), make_run("reverse", "older")
    finished = Status(state="finished", step=100, steps=100)
    for run in (newest, older):
        write_status(run.folder.path, finished)
        write_owned(run.folder.path, Ownership(owner="anna", shared=True))
    monkeypatch.setattr(visitors, "visitor", lambda: PERSON)
    monkeypatch.setattr(visitors, "is_class", lambda: False)
    listed = [newest, older, SHIPPED]
    assert state.first_of(listed) == newest.id
    write_status(newest.folder.path, replace(finished, state="failed"))
    assert state.first_of(listed) == older.id
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    for visitor, first in ((Visitor("anna"), older.id), (Visitor("teacher", all_rights=True), SHIPPED.id)):
        monkeypatch.setattr(visitors, "visitor", lambda visitor=visitor: visitor)
        assert state.first_of(listed) == first
    assert state.first_of([]) == ""
