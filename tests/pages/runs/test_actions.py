"""What leaves the server with a run: for whom, and without the places where things lie on its disk."""

import hashlib
import io
import json
import os
import socket
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from models.data.tasks import make_task
from models.files import write_json
from models.runs import export as exporting
from models.runs.folder import create_run, notes_of, tags_of
from models.runs.owners import MACHINE, NotAllowed, Ownership, Visitor, write_owned
from models.runs.worker import train_here
from models.training.config import run_config
from pages.runs.actions import ROOT, archive
from pages.shared import teachers, visitors
from pages.shared.training import runs, uploads
from pages.shared.training.runs import Run
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
    assert command[1:5] == ["-m", "models.training", "export", str(run.folder.path)]
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
    with pytest.raises(ValueError, match=r"was ended from outside \(signal 9\), .* choose another format"):
        archive(make_run(), MACHINE, "onnx")


ANNA, BEN = (Visitor(hashlib.sha256(letter * 43).hexdigest()[:32]) for letter in (b"a", b"b"))
HERS, HIS = "The cat of Anna sat on the mat. ", "Nobody may know that Ben fears her cat. "
SIZES = {"n_layers": 1, "n_heads": 2, "d_model": 16}
TRAINING = {"steps": 4, "validate_every": 2, "batch_size": 4}
SECRET = teachers.hashed("correct horse")
BESIDE = {"card.json", "config.json", "metrics.csv"}
MEMBERS = {
    "own": BESIDE | {"{name}.safetensors"},
    "transformers": BESIDE
    | {"README.md", "generation_config.json", "model.safetensors", "run.json", "tokenizer.json"}
    | {"tokenizer_config.json"},
    "onnx": BESIDE | {"README.md", "{name}.onnx"},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[runs.Run]:
    """Anna's run on her text, beside Ben's text."""
    place = tmp_path_factory.mktemp("server-of-the-class")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_LAB_RUNS", str(place / "runs"))
        patch.setenv(visitors.CLASS, "1")
        patch.setenv(teachers.HASH, SECRET)
        visitors.is_class.cache_clear()
        for who, text in ((BEN, HIS), (ANNA, HERS)):
            patch.setattr(visitors, "visitor", lambda who=who: who)
            file = uploads.keep((text * 300).encode(), "text.txt")
        task = make_task("language-model", {"file": str(uploads.path_of(file))})
        folder = create_run(run_config(task, sizes=SIZES, training=TRAINING), name="cats")
        write_owned(folder.path, Ownership(owner=ANNA.id))
        assert train_here(folder, lambda *_: None).state == "finished"
        found = runs.find(folder.id)
        assert found is not None
        yield found
    visitors.is_class.cache_clear()


@pytest.mark.parametrize("form", MEMBERS)
def test_nothing_of_the_server_and_of_others_is_in_it(run: runs.Run, form: str) -> None:
    places = {str(ROOT), str(Path.home()), str(run.folder.path.parent), "site-packages", "uploads/", "/tmp/"}
    persons = {
        ANNA.id,
        BEN.id,
        "a" * 43,
        SECRET,
        teachers.HASH,
        HIS.strip(),
        hashlib.sha256(HIS.encode()).hexdigest(),
    }
    machine = {socket.gethostname() + ".", f'"pid": {os.getpid()}', "heartbeat", "ATTENTION_LAB"}
    with zipfile.ZipFile(io.BytesIO(archive(run, ANNA, form))) as packed:
        wanted = {f"{run.id}/{each.format(name=run.id)}" for each in MEMBERS[form]}
        assert set(packed.namelist()) == wanted
        for member in packed.infolist():
            content = packed.read(member)
            for hidden in places | persons | machine:
                assert hidden.encode() not in content, (member.filename, hidden)


def page(run_id: str) -> None:
    from pages.shared.state import problems
    from pages.shared.training import runs

    run = runs.find(run_id)
    assert run is not None
    say(problems())
    notes.edit(run)
    notes.show(run)


def opened(run: Run) -> AppTest:
    at = AppTest.from_function(page, args=(run.id,), default_timeout=60).run()
    assert not at.exception
    return at


def write(at: AppTest, run: Run, tags: str, notes: str) -> list[str]:
    """Saves tags and notes; the texts that the page then shows."""
    at.text_input(f"runs.tags.{run.id}").set_value(tags)
    at.text_area(f"runs.notes.{run.id}").set_value(notes)
    at.button("runs.annotate").click().run()
    assert not at.exception
    return [each.value for each in at.text]


def test_tags_and_notes_are_kept_and_shown_as_typed(make_run: MakeRun) -> None:
    run = make_run()
    shown = write(opened(run), run, "good, <b>odd</b>", "with *stars*\nand lines")
    said = run.folder.description()
    assert tags_of(said) == ["good", "<b>odd</b>"] and notes_of(said) == "with *stars*\nand lines"
    assert shown == ["Tags: good, <b>odd</b>", "with *stars*\nand lines"]
    assert said["training"]["steps"] == 100  # nothing else was touched


def test_too_many_tags_are_refused_and_nothing_is_lost(make_run: MakeRun) -> None:
    run = make_run()
    run.folder.annotate(tags=["first"])
    shown = write(opened(run), run, ", ".join(f"t{at}" for at in range(9)), "")
    assert "9 tags are too many for one run; give at most 8" in " ".join(shown)
    assert tags_of(run.folder.description()) == ["first"]


def test_another_visitor_s_run_is_not_noted(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()

    def refuse(*_: object) -> None:
        raise NotAllowed("this run is another visitor's: only its owner and a teacher may change its notes")

    monkeypatch.setattr("models.runs.jobs.owners.check", refuse)
    assert "this run is another visitor's" in " ".join(write(opened(run), run, "mine", ""))
    assert tags_of(run.folder.description()) == []


def test_what_was_changed_is_told(make_run: MakeRun) -> None:
    first, run = make_run(name="first"), make_run()
    changed = {"learning_rate": [0.01, 0.001]}
    entry = {"step": 60, "from": first.id, "changed": changed, "schedule": "goes on"}
    run.folder._describe(history=[entry, "damaged"])
    told = "Trained further from “first”, from step 60: learning_rate 0.01 → 0.001, the schedule goes on"
    assert [each.value for each in opened(run).text] == [told]
