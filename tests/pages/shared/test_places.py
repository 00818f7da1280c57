"""Where things lie on the disk is no visitor's business."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from models.files import FileError, read_json
from pages.shared import visitors
from pages.shared.places import without_places

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "of" / "runs"))
    visitors.is_class.cache_clear()
    yield tmp_path / "of" / "runs"
    visitors.is_class.cache_clear()


def test_a_visitor_of_a_class_reads_names_and_no_folders(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = f"{runs}/uploads/{'0a' * 16}/{'f' * 64}.txt"
    with pytest.raises(FileError) as refused:
        read_json(runs / "a-1" / "config.json")
    texts = [
        str(refused.value),
        f"--set file={file} and {file}",
        f"{ROOT}/models/zoo: no; {ROOT}",
        f"{Path.home()}/elsewhere",
    ]
    assert [without_places(text) for text in texts] == texts
    monkeypatch.setenv(visitors.CLASS, "1")
    visitors.is_class.cache_clear()
    assert [without_places(text) for text in texts] == [
        "'a-1/config.json' does not exist or is no file, but holds JSON; check the path",
        f"--set file={'f' * 64}.txt and {'f' * 64}.txt",
        f"models/zoo: no; {ROOT.name}",
        "elsewhere",
    ]
