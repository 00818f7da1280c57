"""An id that comes from anybody opens a folder among the runs, or nothing."""

import pytest

from attention_lab.models.files import FileError
from attention_lab.models.zoo.folders import run_path


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "runs"))
    (tmp_path / "runs" / "mine-1").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    return tmp_path / "runs"


def test_a_run_is_found_by_its_id(root):
    assert run_path("mine-1") == root / "mine-1"


@pytest.mark.parametrize(
    "run_id",
    ["", ".", "../secret", "mine-1/../../secret", "/etc", "Mine-1", "-x", "mine-1\n", "a\0b", "x" * 101],
)
def test_an_id_leads_nowhere_else(root, run_id):
    with pytest.raises(FileError, match=r"there is no run .*: it was deleted, or its link is wrong"):
        run_path(run_id)


def test_links_are_not_followed(root):
    (root / "link").symlink_to(root.parent / "secret")
    with pytest.raises(FileError, match="there is no run 'link'"):
        run_path("link")
    (root / "mine-1" / "checkpoint.safetensors").symlink_to(root.parent / "secret")
    with pytest.raises(
        FileError, match=r"run 'mine-1' holds a link, 'checkpoint\.safetensors', which no run"
    ):
        run_path("mine-1")
