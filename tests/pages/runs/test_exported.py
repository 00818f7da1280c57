"""All that a class gives away with a run, in every format: which files, and that none says anything of the
server, of who made the run, or of what others handed in.
"""

import hashlib
import io
import os
import socket
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from attention_lab.models.data.tasks import make_task
from attention_lab.models.files import IMPORT_ROOT as ROOT
from attention_lab.models.runs.folder import create_run
from attention_lab.models.runs.owners import Ownership, Visitor, write_owned
from attention_lab.models.runs.worker import train_here
from attention_lab.models.training.config import run_config
from attention_lab.pages.runs.actions import archive
from attention_lab.pages.shared import teachers, visitors
from attention_lab.pages.shared.training import runs, uploads

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
    "onnx": BESIDE | {"README.md", "{name}.onnx", "tokenizer.json", "tokenizer_config.json"},
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
