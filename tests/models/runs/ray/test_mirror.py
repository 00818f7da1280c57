"""Copies of runs behind a URL, in fsspec's own memory."""

import json

import pytest

from models.data.tasks import make_task
from models.runs import jobs
from models.runs.folder import create_run
from models.runs.limits import JobRefused
from models.runs.owners import MACHINE
from models.runs.ray.mirror import FROM_SERVER, Mirror, copy, latest, uploads_of
from models.training.config import run_config
from models.zoo.folders import runs_root

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def url():
    yield "memory://runs"
    fsspec.filesystem("memory").store.clear()


def test_files_go_there_and_come_back(tmp_path, url):
    here, there = Mirror(tmp_path / "here", url), Mirror(tmp_path / "there", url)
    folder = tmp_path / "here" / "run"
    (folder / "snapshots").mkdir(parents=True)
    for name, text in {"config.json": "{}", "status.json": '{"attempt": 3}', "metrics.jsonl": "1\n"}.items():
        (folder / name).write_text(text)
    (folder / ".lock").touch()
    (folder / "snapshots" / "00000001.safetensors").write_bytes(b"\0one")
    here.send("run")
    there.fetch("run")
    copied = tmp_path / "there" / "run"
    assert sorted(path.name for path in copied.rglob("*")) == [
        "00000001.safetensors", "config.json", "metrics.jsonl", "snapshots", "status.json",
    ]  # fmt: skip
    assert (copied / "snapshots" / "00000001.safetensors").read_bytes() == b"\0one"
    assert latest(there, "run") == 3

    (folder / "metrics.jsonl").write_text("1\n2\n")
    (folder / "config.json").write_text("changed")
    (folder / "snapshots" / "00000001.safetensors").unlink()  # as a run does that goes on from before
    here.send("run", lambda name: name not in FROM_SERVER)
    there.fetch("run")
    assert (copied / "metrics.jsonl").read_text() == "1\n2\n"
    assert (copied / "config.json").read_text() == "{}"
    assert not list((copied / "snapshots").iterdir())
    here.drop("run")
    assert latest(there, "run") == 0
    assert there.get("run/config.json") is None


def test_a_node_reads_the_server_s_files_in_its_own_folder(tmp_path, url):
    server = tmp_path / "server"
    (server / "uploads").mkdir(parents=True)
    (server / "uploads" / "words.txt").write_text("some words, again and again\n" * 40)
    task = make_task("language-model", {"file": str(server / "uploads" / "words.txt")})
    run = create_run(run_config(task, sizes={"max_len": 8}), path=server / "run")
    assert uploads_of(run.path) == ["uploads/words.txt"]
    mirror = Mirror(server, url)
    mirror.send("run")
    mirror.put("uploads/words.txt", (server / "uploads" / "words.txt").read_bytes())
    (server / "uploads" / "words.txt").unlink()
    with copy(url, str(server), "run") as root:
        file = json.loads((root / "run" / "config.json").read_text())["task"]["options"]["file"]
        assert file == str(root / "uploads" / "words.txt")
        assert (root / "uploads" / "words.txt").read_text().startswith("some words")
    assert not root.exists()


def test_without_a_cluster_a_url_is_refused_in_one_sentence(tmp_path, monkeypatch, url):
    monkeypatch.setenv("ATTENTION_LAB_RUNS", url)
    monkeypatch.setenv("ATTENTION_LAB_MIRROR", str(tmp_path))
    assert runs_root().parent == tmp_path
    with pytest.raises(
        JobRefused, match="'memory://runs' is a URL, which only runs of a Ray cluster use; set"
    ):
        jobs.submit(run_config(make_task("reverse")), by=MACHINE)
    assert not list(runs_root().glob("*/config.json"))
