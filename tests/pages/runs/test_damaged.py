"""Runs whose files somebody has changed: every list, chart and link goes on, or says a sentence."""

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from attention_lab.models.runs.folder import RunFolder, list_runs
from attention_lab.models.zoo import load_model
from attention_lab.pages.runs import compare, listing, scrubber
from attention_lab.pages.shared.board.message import message
from attention_lab.pages.shared.table import message as table_message
from attention_lab.pages.shared.training import heads, runs, settings
from attention_lab.pages.shared.training.runs import Run
from attention_lab.pages.train.watch import board_of
from tests.pages.runs.conftest import rows_in_list

SHIPPED = Path("models/zoo/induction/run")
DEEP: tuple[Any, ...] = (None, 10**400, "\ud800")
GOOD = Run("zoo_induction", RunFolder(SHIPPED), shipped=True)
HOSTILE: tuple[Any, ...] = (
    None, True, -1, 10**400, float("nan"), "../../x", "\ud800", [[]], {"decoder": [1]},
)  # fmt: skip
FILES = ("config.json", "task.json", "probe.json", "status.json", "metrics.jsonl", "samples.jsonl")


def variants(value: Any) -> Iterator[Any]:
    """The value replaced, each of its entries replaced or gone, and each of theirs. An entry meets a part of
    what is hostile, and its neighbours the rest; `make fuzz` tries more.
    """
    yield from HOSTILE
    for at, (name, inside) in enumerate(value.items()):
        for odd in HOSTILE[at % 5 :: 5]:
            yield {**value, name: odd}
        if isinstance(inside, dict):
            yield from (
                {**value, name: {**inside, deep: DEEP[number % 3]}} for number, deep in enumerate(inside)
            )
        yield {other: kept for other, kept in value.items() if other != name}


def everything_shown(run: Run) -> None:
    """All that pages make of a run without its model."""
    entries = run.records()
    message(scrubber.scrubbed(run), part="x", link={}, at=0.0)
    message(compare.board_of([run, GOOD]), part="x", link={})
    message(board_of(run, entries, steps=100, notice="", live=True), part="x", link={})
    compare.differences([run, GOOD])
    assert table_message("All runs", list(listing.COLUMNS), rows_in_list([run]))
    for entry in run.samples():
        heads.sample_text(entry.get("samples"))
    settings.link_of_run(runs.described(run))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped run with its first snapshots."""
    shutil.copytree(SHIPPED, tmp_path / "run")
    for file in sorted((tmp_path / "run" / "snapshots").iterdir())[3:]:
        file.unlink()
    return tmp_path / "run"


@pytest.mark.parametrize("file", FILES)
def test_whatever_a_file_says_the_run_is_shown(file: str, folder: Path) -> None:
    lines = (SHIPPED / file).read_text().splitlines()
    value = json.loads(lines[-1] if file.endswith("jsonl") else "\n".join(lines))
    for odd in variants(copy.deepcopy(value)):
        (folder / file).unlink()  # its histories are read again
        (folder / file).write_text(json.dumps(odd) + "\n")
        everything_shown(Run("run", RunFolder(folder)))


@pytest.mark.parametrize("content", [b"", b"[" * 100_000, b"\xff\xfe", b"\0" * 100, b"{}\n{}\n"])
@pytest.mark.parametrize("file", [*FILES, "snapshots/00000000.safetensors"])
def test_whatever_a_file_holds_the_run_is_shown(file: str, content: bytes, folder: Path) -> None:
    (folder / file).write_bytes(content)
    everything_shown(Run("run", RunFolder(folder)))


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (1, 0, 0), (2, 3, 5), (70, 2, 2), (1, 2, 3, 4)])
def test_snapshots_of_any_shape_are_shown(shape: tuple[int, ...], folder: Path) -> None:
    file = next((folder / "snapshots").iterdir())
    save_file({"decoder.0.self.pattern": np.zeros(shape, dtype=np.float16)}, file)
    everything_shown(Run("run", RunFolder(folder)))


def test_links_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a run's folder that is one, nor a file in it, nor a snapshot."""
    outside, root = tmp_path / "outside", tmp_path / "runs"
    shutil.copytree(SHIPPED, outside)
    root.mkdir()
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(root))
    (root / "linked").symlink_to(outside)
    shutil.copytree(SHIPPED, root / "inside")
    assert [run.id for run in list_runs()] == ["inside"]
    assert runs.find("linked") is None
    run = runs.find("inside")
    assert run is not None
    snapshots = run.folder.snapshots()
    last = root / "inside" / "snapshots" / f"{snapshots[-1]:08d}.safetensors"
    last.unlink()
    last.symlink_to(next((outside / "snapshots").iterdir()))
    assert run.folder.snapshots() == snapshots[:-1]
    (root / "inside" / "checkpoint.safetensors").symlink_to(outside / "config.json")
    assert runs.find("inside") is None
    assert [found.id for found in runs.every() if not found.shipped] == []
    with pytest.raises(ValueError, match="is no whole safetensors file"):
        load_model(root / "inside")


def test_a_run_that_is_deleted_while_the_list_is_drawn_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    shutil.copytree(SHIPPED, tmp_path / "soon-gone")
    (run,) = (found for found in runs.every() if not found.shipped)
    shutil.rmtree(tmp_path / "soon-gone")
    assert not runs.status_of(run).live
    assert "there is no run 'soon-gone'" in runs.status_of(run).sentence
    [row] = rows_in_list([run])
    assert row.cells[2] == "failed"
    everything_shown(run)
