"""What leaves the server with a run: for whom, and without the places where things lie on its disk."""

import io
import json
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from attention_lab.models.files import write_json
from attention_lab.models.runs import export as exporting
from attention_lab.models.runs.owners import MACHINE, NotAllowed, Ownership, Visitor, write_owned
from attention_lab.pages.runs.actions import archive
from attention_lab.pages.shared import visitors
from tests.pages.shared.training.conftest import MakeRun


@pytest.fixture
def a_class(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(visitors.CLASS, "1")
    visitors.is_class.cache_clear()
    yield
    visitors.is_class.cache_clear()


@pytest.fixture(autouse=True)
def _quick(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of an export, of which the card says what the run's file was."""

    def export_run(folder, out: Path, *, name: str, which: str) -> None:
        write_json(out / "card.json", {"file": f"{root}/uploads/{'a1' * 16}/text.txt"})
        (out / "metrics.csv").write_text("step,loss\n")

    monkeypatch.setattr(exporting, "export_run", export_run)


def card(packed: bytes, run_id: str) -> dict:
    with zipfile.ZipFile(io.BytesIO(packed)) as found:
        assert sorted(found.namelist()) == [f"{run_id}/card.json", f"{run_id}/metrics.csv"]
        return json.loads(found.read(f"{run_id}/card.json"))


def test_only_owner_and_teacher_export_even_what_is_shared(make_run: MakeRun) -> None:
    run = make_run()
    write_owned(run.folder.path, Ownership(owner="anna", shared=True))
    for by in (Visitor("anna"), Visitor("carl", all_rights=True), MACHINE):
        assert card(archive(run, by), run.id)
    for by in (Visitor("ben"), Visitor()):
        with pytest.raises(NotAllowed, match="only its owner and a teacher may export it"):
            archive(run, by)


def test_alone_the_card_says_where_the_file_was(make_run: MakeRun, root: Path) -> None:
    run = make_run()
    assert card(archive(run, MACHINE), run.id)["file"].startswith(f"{root}/uploads/")


@pytest.mark.usefixtures("a_class")
def test_in_a_class_nothing_says_where_the_server_keeps_its_files(make_run: MakeRun) -> None:
    run = make_run()
    assert card(archive(run, MACHINE), run.id) == {"file": "text.txt"}


def test_another_programs_format_is_written_by_a_process_whose_refusal_is_said(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def refuse(command: list[str], **more: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 1, "", "a warning\nerror: it has no checkpoint yet\n")

    monkeypatch.setattr(subprocess, "run", refuse)
    run = make_run()
    with pytest.raises(ValueError, match=r"^it has no checkpoint yet$"):
        archive(run, MACHINE, "onnx")
    [command] = asked
    assert command[1:5] == ["-m", "attention_lab.models.training", "export", str(run.folder.path)]
    assert command[-2:] == ["--format", "onnx"]


@pytest.mark.parametrize("stderr", ["", "FutureWarning: something of a library's\n"])
def test_an_export_whose_process_is_killed_says_so(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch, stderr: str
) -> None:
    real = subprocess.Popen

    def killed(command: list[str], **more: object) -> "subprocess.Popen[str]":
        """A process in the exporter's place, which kills itself in the middle."""
        line = f"import os, sys; sys.stderr.write({stderr!r}); sys.stderr.flush(); os.kill(os.getpid(), 9)"
        return real([command[0], "-c", line], **more)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", killed)
    with pytest.raises(ValueError, match=r"was ended \(signal 9\)"):
        archive(make_run(), MACHINE, "onnx")
