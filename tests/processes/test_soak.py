"""`make soak` for a quarter of a minute: whatever visitors turn on any page, none is shown a traceback."""

from pathlib import Path

from benchmarks.soak import Soak, Use, soak
from tests.processes.crowd import crowd


def test_whoever_wanders_over_all_pages_meets_no_fault(tmp_path: Path) -> None:
    found = soak(visitors=4, seconds=15 * crowd(), seed=1, folder=tmp_path, settle=0)
    assert found.faults == []
    assert found.steps > 20
    assert found.uses[-1].megabytes < 2_000


def test_what_grows_is_complained_of() -> None:
    found = Soak.__new__(Soak)
    found.seconds, found.faults = 600.0, ["ValueError: x"]
    found.uses = [Use(0, 100, 5, 10, 0), Use(1, 400, 9, 30, 50), Use(10, 480, 9, 31, 900)]
    assert found.complaints() == ["ValueError: x"]
    found.uses.append(Use(13, 501, 18, 60, 900))
    assert found.complaints()[1:] == [
        "101 MB more than after the first tenth",
        "9 threads more than after the first tenth, though everyone has left",
        "30 files more than after the first tenth, though everyone has left",
    ]
