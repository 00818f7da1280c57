import threading

import pytest

from models.data import downloads
from pages.shared.state import problems
from pages.train import download
from tests.limits import SetLimits


@pytest.fixture(autouse=True)
def nothing_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_fetches", {})


def wait() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("download "):
            thread.join(5)


def test_a_source_is_fetched_once_however_many_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, go = [], threading.Event()

    def fetch(name: str, progress: downloads.Progress) -> list:
        asked.append(name)
        progress(3, 10)
        go.wait(5)
        return []

    monkeypatch.setattr(downloads, "fetch", fetch)
    for _ in range(3):
        download.start("mnist")
    known = download._fetches["mnist"]
    go.set()
    wait()
    assert asked == ["mnist"]
    assert (known.come, known.total, known.running, known.problem) == (3, 10, False, "")


def test_a_download_that_fails_says_why_and_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(name: str, progress: downloads.Progress) -> list:
        raise downloads.SourceError("the server does not answer; try again later", name)

    monkeypatch.setattr(downloads, "fetch", fetch)
    download.start("mnist")
    wait()
    assert download._fetches["mnist"].problem == "the server does not answer; try again later"
    monkeypatch.setattr(downloads, "fetch", lambda name, progress: [])
    download.start("mnist")
    wait()
    assert download._fetches["mnist"].problem == ""


def test_a_server_for_looking_only_downloads_nothing(set_limits: SetLimits) -> None:
    set_limits(read_only=True)
    problems()  # outside a page all tests share one session
    download.start("mnist")
    assert download._fetches == {}
    assert problems() == ["this server is for looking only (read_only): it downloads nothing"]
