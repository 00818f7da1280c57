from pathlib import Path

import pytest

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
