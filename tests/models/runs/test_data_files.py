"""A run's own file: named, and never silently another when the run goes on."""

from pathlib import Path

import pytest

from models.data.own_names import beside, with_name
from models.data.tasks import make_task
from models.runs.data_files import check_files, files_of, name_of, own_names_in
from models.runs.folder import create_run
from models.runs.further import Change, changed_config, make_further
from models.runs.worker import train_here
from models.training.config import run_config

ROWS = [f"text {i} is fine;{'good' if i % 2 else 'bad'}" for i in range(40)]
TINY = {"n_layers": 1, "n_heads": 1, "d_model": 8}
HOW = {"steps": 2, "batch_size": 4, "held_out": 4, "n_snapshots": 2, "threads": 1}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(["text;label", *ROWS]))
    return path


def config(file: Path, **training: int):
    return run_config(make_task("sentiment", {"file": str(file)}), sizes=TINY, training={**HOW, **training})


def test_a_run_whose_file_changed_or_went_away_ends_with_a_sentence_and_goes_on_with_it(file: Path):
    run, content = create_run(config(file)), file.read_bytes()
    assert run.description()["files"]["file"]["name"] == "mine.csv"
    file.write_text("\n".join(["id;stars", *(f"{i};{i % 5}" for i in range(60))]))
    status = train_here(run)
    assert status.state == "failed"
    assert status.sentence.startswith(
        "'mine.csv' has changed since this run began; put it back as it was and"
    )
    file.unlink()
    assert train_here(run).sentence.startswith("'mine.csv', which this run reads, is gone (No such file")
    file.write_bytes(content)
    assert train_here(run).state == "finished" and run.metrics()[-1]["step"] == 2


def test_a_run_that_is_trained_further_still_needs_its_old_file(file: Path):
    run = create_run(config(file))
    assert train_here(run).state == "finished"
    file.write_text(file.read_text() + "\none more;good")
    change = Change(steps=4)
    further = make_further(run, changed_config(run, run.config(), change, 2), change, 2)
    assert further.description()["files"] == run.description()["files"]
    with pytest.raises(ValueError, match="has changed since this run began"):
        check_files(further.description())
    check_files({"task": {"name": "sentiment", "options": {"file": str(file)}}})  # a run from before


def test_a_file_is_known_by_what_its_owner_called_it(tmp_path: Path, file: Path):
    import hashlib

    content = file.read_bytes()
    kept = tmp_path / f"{hashlib.sha256(content).hexdigest()}.csv"
    kept.write_bytes(content)
    beside(kept).write_bytes(with_name(kept, "reviews of spring.csv"))
    described = create_run(config(kept)).description()
    beside(kept).unlink()
    assert name_of(described, "file") == "reviews of spring.csv"
    assert name_of(described, "pieces") == "" and name_of({}, "file") == ""
    kept_as, other = kept.name, f"{'0' * 64}.csv"
    assert own_names_in([described]) == {kept_as: "reviews of spring.csv"}
    again = {
        "task": {"options": {"file": f"/x/{other}"}},
        "files": {"file": {"name": "reviews of spring.csv"}},
    }
    assert own_names_in([described, again, {}]) == {
        kept_as: f"reviews of spring.csv ({kept_as[:8]}…)", other: "reviews of spring.csv (00000000…)",
    }  # fmt: skip
    check_files(described)
    assert files_of(make_task("sort")) == {}
