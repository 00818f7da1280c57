import threading
from pathlib import Path

import pytest

from attention_lab.models.data import downloads
from attention_lab.pages.shared.state import problems
from attention_lab.pages.train import download
from tests.limits import SetLimits


@pytest.fixture(autouse=True)
def nothing_fetched() -> None:
    download.queue.jobs.clear()


def test_a_source_is_fetched_once_however_many_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, go = [], threading.Event()

    def fetch(name: str, progress: downloads.Progress) -> Path:
        asked.append(name)
        progress(3_000_000, 10_000_000)
        assert go.wait(30)
        return Path()

    monkeypatch.setattr(downloads, "fetch", fetch)
    for _ in range(3):
        download.start("enwik8")
    job = download.queue.jobs["enwik8"]
    go.set()
    job.outcome()
    assert asked == ["enwik8"] and job.doing == "3.0 MB of 10 MB have come"


def test_a_download_that_fails_says_why_and_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(name: str, progress: downloads.Progress) -> Path:
        raise downloads.SourceError("the server does not answer; try again later", name)

    monkeypatch.setattr(downloads, "fetch", fetch)
    download.start("enwik8")
    with pytest.raises(downloads.SourceError, match="the server does not answer; try again later"):
        download.queue.jobs["enwik8"].outcome()
    monkeypatch.setattr(downloads, "fetch", lambda name, progress: Path())
    download.start("enwik8")
    download.queue.jobs["enwik8"].outcome()


def test_a_server_for_looking_only_downloads_nothing(set_limits: SetLimits) -> None:
    set_limits(read_only=True)
    problems()  # outside a page all tests share one session
    download.start("enwik8")
    assert not download.queue.jobs
    assert problems() == ["this server is read-only: it downloads nothing"]
