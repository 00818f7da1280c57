"""A run's folder is read whatever its state: half-written, damaged, foreign, from the future, or gone."""

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file

from attention_lab.models.data.tasks import make_task
from attention_lab.models.data.text_files import names_file_of, with_name
from attention_lab.models.files import FileError
from attention_lab.models.runs.checkpoints import Checkpoint, read_step, write_checkpoint
from attention_lab.models.runs.continuation import Change, changed_config, make_further
from attention_lab.models.runs.folder import (
    check_files,
    create_run,
    cut_lines,
    files_of,
    find_run,
    list_runs,
    name_of,
    own_names_in,
)
from attention_lab.models.runs.worker import train_here
from attention_lab.models.zoo.folders import runs_root
from tests.small_runs import small_run

CONFIG = small_run()


def test_a_run_is_read_as_it_was_made(root):
    run = create_run(CONFIG, name="  my   first run ")
    assert run.path.parent == root == runs_root()
    assert run.id.startswith("reverse-")
    assert run.name == "my first run"
    assert run.config() == CONFIG
    assert (run.metrics(), run.samples(), run.probe()) == ([], [], {})
    assert (run.snapshots(), run.picture_steps(), run.checkpoint()) == ([], [], None)
    assert 0 < run.size_bytes() < 5_000
    with pytest.raises(FileError, match="has no checkpoint yet; wait for the first"):
        run.model()
    with pytest.raises(FileError, match="holds a run already; resume it"):
        create_run(CONFIG, path=run.path)


def test_two_runs_of_a_second_have_two_folders_whatever_letters_they_draw(root, monkeypatch):
    letters = iter(["aaaa", "aaaa", "bbbb", "cccc"])
    monkeypatch.setattr("attention_lab.models.runs.folder.secrets.token_hex", lambda n: next(letters))
    begins = "attention_lab.models.runs.folder.datetime"
    monkeypatch.setattr(begins, SimpleNamespace(now=lambda zone: datetime(2026, 1, 1, tzinfo=zone)))
    assert create_run(CONFIG).id.endswith("-aaaa") and create_run(CONFIG).id.endswith("-bbbb")


def test_runs_are_listed_newest_first_and_found_by_id_name_and_path(root):
    assert list_runs() == []
    first, second = create_run(CONFIG, name="one"), create_run(CONFIG, name="two")
    assert [run.id for run in list_runs()] == [second.id, first.id]
    (root / "no-run").mkdir()
    (root / "a file").write_text("foreign")
    assert len(list_runs()) == 2
    for name in (first.id, "one", str(first.path)):
        assert find_run(name).id == first.id
    second.rename("one")
    with pytest.raises(FileError, match=f"2 runs are called 'one'; say which: {second.id}, {first.id}"):
        find_run("one")
    with pytest.raises(FileError, match=f"there is no run 'three'; the latest are: {second.id}"):
        find_run("three")
    with pytest.raises(ValueError, match="'' is no name for a run"):
        first.rename("   ")
    with pytest.raises(ValueError, match="give one of 1 to 80 letters"):
        first.rename("x" * 81)


def test_half_written_and_foreign_lines_are_left_out(root):
    run = create_run(CONFIG)
    lines = [{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0}, {"step": 3, "loss": 0.5}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path = run.path / "metrics.jsonl"
    path.write_text(f"not JSON\n[1, 2]\n\x00\xff\n{text}{{'step': 4, \"lo", encoding="latin-1")
    assert run.metrics() == lines
    assert run.metrics(after_step=1) == lines[1:]
    cut_lines(path, 2)
    assert path.read_text() == "".join(json.dumps(line) + "\n" for line in lines[:2])
    for folder in ("snapshots", "pictures"):
        (run.path / folder).mkdir()
        (run.path / folder / "notes.txt").write_text("foreign")
        (run.path / folder / "00000007.safetensors").write_bytes(b"damaged")
    assert run.snapshots() == run.picture_steps() == [7]
    with pytest.raises(FileError, match=r"00000007\.safetensors' is damaged"):
        run.snapshot(7)
    with pytest.raises(FileError, match="is not there; choose a step that was kept"):
        run.pictures(8)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", "is no JSON"),
        ("[1]", "holds a list, not a JSON object"),
        ('{"version": 1}', "lacks task and model; restore it"),
        ('{"version": 1, "task": {"name": "flying"}, "model": {}, "training": {}}', "n_layers, .* missing"),
        ('{"version": 1, "task": {"name": "reverse"}, "model": {"kind": 3}, "training": {}}', "missing"),
    ],
)
def test_a_config_that_is_none_is_said(root, content, text):
    run = create_run(CONFIG)
    (run.path / "config.json").write_text(content)
    with pytest.raises(FileError, match=text):
        run.config()
    assert run.name  # it is listed under some name all the same
    assert [each.id for each in list_runs()] == [run.id]


def test_what_a_task_learnt_must_fit_the_task(root):
    run = create_run(CONFIG)
    (run.path / "task.json").write_text('{"vocabulary": []}')
    with pytest.raises(FileError, match="has no valid task: reverse kept nothing, but got"):
        run.config()


@pytest.mark.parametrize("damage", ["cut", "other", "empty", "foreign"])
def test_a_damaged_checkpoint_is_said(root, damage):
    run = create_run(CONFIG)
    path = run.path / "checkpoint.safetensors"
    write_checkpoint(path, Checkpoint(3, {"model.a": torch.ones(4)}, {"seconds": 1.5}))
    found = run.checkpoint()
    assert (found.step, found.values) == (3, {"seconds": 1.5})
    assert torch.equal(found.tensors["model.a"], torch.ones(4))
    whole = path.read_bytes()
    content = {"cut": whole[:-3], "other": b"PK\x03\x04" + whole, "empty": b""}
    if damage == "foreign":
        save_file({"weight": torch.ones(2)}, path)
    else:
        path.write_bytes(content[damage])
    with pytest.raises(FileError, match="is no whole checkpoint"):
        run.checkpoint()


def test_a_checkpoint_of_the_future_or_of_another_model_is_said(root):
    run = create_run(CONFIG)
    path = run.path / "checkpoint.safetensors"
    save_file({"a": torch.ones(1)}, path, metadata={"version": "2", "step": "1", "values": "{}"})
    with pytest.raises(FileError, match="of version 2, but this program reads up to 1"):
        run.checkpoint()
    write_checkpoint(path, Checkpoint(3, {"model.a": torch.ones(4)}, {}))
    with pytest.raises(FileError, match="another model's"):
        run.model()


def test_deleting_takes_what_runs_write_and_leaves_the_rest(root):
    run = create_run(CONFIG)
    (run.path / "snapshots").mkdir()
    (run.path / ".checkpoint.safetensors.x.tmp").write_text("left by a kill")
    (run.path / "events.out.tfevents.1.host").write_text("")
    (run.path / "thesis.tex").write_text("mine")
    run.delete()
    assert [path.name for path in run.path.iterdir()] == ["thesis.tex"]
    assert list_runs() == []
    other = create_run(CONFIG)
    other.delete()
    assert not other.path.exists()


ROWS = [f"text {i} is fine;{'good' if i % 2 else 'bad'}" for i in range(40)]


def reviews(file: Path):
    return small_run(make_task("sentiment", {"file": str(file)}), steps=2, n_snapshots=2)


@pytest.fixture
def file(tmp_path: Path, root: Path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(["text;label", *ROWS]))
    return path


def test_a_run_whose_file_changed_or_went_away_ends_with_a_sentence_and_goes_on_with_it(file: Path):
    run, content = create_run(reviews(file)), file.read_bytes()
    assert run.description()["files"]["file"]["name"] == "mine.csv"
    file.write_text("\n".join(["id;stars", *(f"{i};{i % 5}" for i in range(60))]))
    status = train_here(run)
    assert status.state == "failed"
    assert status.sentence.startswith("'mine.csv' has changed since this run began; put it back and")
    file.unlink()
    assert train_here(run).sentence.startswith("'mine.csv', which this run reads, is gone (No such file")
    file.write_bytes(content)
    assert train_here(run).state == "finished" and run.metrics()[-1]["step"] == 2


def test_a_run_that_is_trained_further_still_needs_its_old_file(file: Path):
    run = create_run(reviews(file))
    assert train_here(run).state == "finished"
    file.write_text(file.read_text() + "\none more;good")
    change = Change(steps=4)
    further = make_further(run, changed_config(run, run.config(), change, 2), change, 2)
    assert further.description()["files"] == run.description()["files"]
    with pytest.raises(ValueError, match="has changed since this run began"):
        check_files(further.description())
    check_files({"task": {"name": "sentiment", "options": {"file": str(file)}}})  # a run from before


def test_a_file_is_known_by_what_its_owner_called_it(tmp_path: Path, file: Path):
    content = file.read_bytes()
    kept = tmp_path / f"{hashlib.sha256(content).hexdigest()}.csv"
    kept.write_bytes(content)
    names_file_of(kept).write_bytes(with_name(kept, "reviews of spring.csv"))
    described = create_run(reviews(kept)).description()
    names_file_of(kept).unlink()
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
    assert files_of(make_task("reverse")) == {}


def test_a_pipe_in_a_run_keeps_nobody_waiting(file: Path):
    """Reading one would wait until somebody writes into it, and nobody does."""
    folder = create_run(reviews(file))
    file.unlink()
    (folder.path / "snapshots").mkdir(exist_ok=True)
    for name in ("status.json", "checkpoint.safetensors", "snapshots/00000001.safetensors"):
        (folder.path / name).unlink(missing_ok=True)
        os.mkfifo(folder.path / name)
    os.mkfifo(file)
    with ThreadPoolExecutor() as threads:
        waiting = [
            threads.submit(ask)
            for ask in (
                lambda: (folder.probe(), folder.snapshots(), folder.checkpoint()),
                lambda: folder.snapshot(1),
                lambda: read_step(folder.path / "checkpoint.safetensors"),
                lambda: check_files(folder.description()),
            )
        ]
        try:
            assert waiting[0].result(timeout=30) == ({}, [], None)
            for each in waiting[1:]:
                with pytest.raises(ValueError, match=r"is not there|no whole checkpoint|is gone"):
                    each.result(timeout=30)
        finally:
            for pipe in (*folder.path.rglob("*"), file):
                if pipe.is_fifo():  # whoever waits goes on
                    os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))
