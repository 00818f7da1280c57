import json
from pathlib import Path
from typing import Any

import pytest

from attention_lab.models.runs.owners import Ownership, Visitor, write_owned
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.training import runs
from attention_lab.pages.shared.training.runs import History, latest
from attention_lab.viz_core.labels import TIMES
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


def line(step: int, **more: object) -> str:
    return json.dumps({"step": step, **more}) + "\n"


def test_a_growing_file_is_read_on_from_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    history = History(path)
    assert history.entries() == []
    path.write_text(line(1) + line(2)[:5])
    assert history.entries() == [{"step": 1}]
    with path.open("a") as file:
        file.write(line(2)[5:] + line(3, loss=0.5))
    assert history.entries() == [{"step": 1}, {"step": 2}, {"step": 3, "loss": 0.5}]
    assert history._read == path.stat().st_size


def test_a_file_that_was_replaced_or_cut_is_read_anew(tmp_path: Path) -> None:
    path, other = tmp_path / "metrics.jsonl", tmp_path / "new"
    history = History(path)
    path.write_text(line(1) + line(2) + line(3))
    assert len(history.entries()) == 3
    other.write_text(line(1) + line(2) + line(4) + line(5))
    other.replace(path)
    assert [entry["step"] for entry in history.entries()] == [1, 2, 4, 5]
    path.write_text(line(1))
    assert history.entries() == [{"step": 1}]
    path.unlink()
    assert history.entries() == []


def test_lines_that_are_no_records_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'\xff\xfe\n[1]\n{"step": true}\n{"step": -1}\n{"loss": 1}\n\n' + line(7).encode())
    assert History(path).entries() == [{"step": 7}]


def test_a_list_reads_the_end_of_a_long_file_only(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    assert latest(path) == []
    path.write_text("".join(line(step, filler="x" * 100) for step in range(3_000)))
    found = latest(path)
    assert found[-1]["step"] == 2_999
    assert 900 < len(found) < 1_300
    assert latest(path) is found
    with path.open("a") as file:
        file.write(line(3_000))
    assert latest(path)[-1]["step"] == 3_000


def test_shares_are_in_per_cent_and_errors_are_not() -> None:
    assert runs.worded("exact match", 0.987) == "98.7 %"
    assert runs.worded("bits per character", 2.5) == "2.500"


def test_no_score_is_rounded_to_nothing_or_to_all() -> None:
    assert runs.worded("loss", 0.0000123) == f"1.23{TIMES}10⁻⁵" and runs.worded("loss", 0.0) == "0.000"
    assert runs.worded("accuracy", 0.0002) == "0.02 %" and runs.worded("accuracy", 0.9998) == "99.98 %"
    assert runs.worded("accuracy", 0.0, n=256) == "0 of 256"
    assert runs.worded("accuracy", 1.0, n=1_500) == "1,500 of 1,500"
    assert runs.worded("perplexity", 12_345.67) == "12,345.7"


def test_what_is_no_share_is_not_in_per_cent() -> None:
    for name in ("chrF", "BLEU", "macro F1", "positions 1 to 32", "bits per byte", "perplexity"):
        assert runs.worded(name, 0.5) == "0.500", name
