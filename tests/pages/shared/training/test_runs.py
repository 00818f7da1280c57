from pathlib import Path
from typing import Any

import pytest

from models.runs.owners import Ownership, Visitor, write_owned
from pages.shared import visitors
from pages.shared.training import runs
from tests.pages.shared.training.conftest import MakeRun


def test_only_folders_right_inside_the_root_are_found(make_run: MakeRun, root: Path) -> None:
    run = make_run()
    assert runs.find(run.id) is not None
    (root.parent / "secret").mkdir()
    (root.parent / "secret" / "config.json").write_text("{}")
    (root / "link").symlink_to(root.parent / "secret")
    for asked in ("../secret", "link", "..", "", "a/b", run.id.upper(), f"{run.id}/.", "zoo_../secret"):
        assert runs.find(asked) is None, asked


def test_shipped_runs_are_listed_last_and_known_by_their_model(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = make_run()
    shipped = tmp_path / "zoo" / "induction"
    shipped.mkdir(parents=True)
    mine.folder.path.rename(shipped / "run")
    again = make_run()
    monkeypatch.setattr(runs, "zoo", lambda: tmp_path / "zoo")
    listed = runs.every()
    assert [(run.id, run.shipped, run.model_link) for run in listed] == [
        (again.id, False, f"run:{again.id}"),
        ("zoo_induction", True, "induction"),
    ]


def test_a_damaged_config_still_has_its_parts(make_run: MakeRun) -> None:
    run = make_run()
    (run.folder.path / "config.json").write_text('{"version": 1, "task": "x", "model": [1]}')
    assert runs.described(run) == {"version": 1, "task": {"options": {}}, "model": {}, "training": {}}
    (run.folder.path / "config.json").write_text("{")
    assert runs.described(run)["training"] == {}


@pytest.mark.parametrize("shipped", [False, True])
def test_the_lines_to_take_away_open_the_run_and_say_no_folder(make_run: MakeRun, shipped: bool) -> None:
    run = runs.find(f"{runs.SHIPPED}induction") if shipped else make_run()
    lines = runs.opening(run)
    assert str(run.folder.path.parent) not in lines
    names: dict[str, Any] = {}
    exec(lines, names)
    assert names["run"].path == run.folder.path


def test_a_visitor_lists_and_finds_their_own_runs_and_what_is_shared(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    hers, his, shared, machines = (make_run(name=name) for name in ("hers", "his", "shared", "machines"))
    write_owned(hers.folder.path, Ownership(owner="anna"))
    write_owned(his.folder.path, Ownership(owner="ben"))
    write_owned(shared.folder.path, Ownership(owner="ben", shared=True))
    seen = {
        Visitor("anna"): ({hers.id, shared.id}, {hers.id}),
        Visitor(): ({shared.id}, set()),
        Visitor("carl", all_rights=True): (all_of := {hers.id, his.id, shared.id, machines.id}, all_of),
    }
    for by, (visible, own) in seen.items():
        monkeypatch.setattr(visitors, "visitor", lambda by=by: by)
        listed = [run for run in runs.every() if not run.shipped]
        assert {run.id for run in listed} == visible
        assert {run.id for run in listed if runs.may_change(run)} == own
        assert runs.find(his.id) is None or by.all_rights
    assert any(run.shipped for run in runs.every())
