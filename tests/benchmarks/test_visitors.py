"""The scripted visitors see what a browser would, and report what goes wrong."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import visitors
from benchmarks.visitors import Report, measure
from tools.background_servers import free_port, serving

PAGE = """
import streamlit as st

@st.fragment
def echo():
    value = st.slider("echoed", 5, 25, step=10)
    st.slider("other", 0, 1)
    with open("values.txt", "a") as file:
        print(value, file=file)
    if st.query_params.get("break"):
        raise ValueError("broken on purpose")

echo()
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address of a page with two sliders, and the file in which it writes the first one's values."""
    folder, port = tmp_path_factory.mktemp("page"), free_port()
    (folder / "page.py").write_text(PAGE)
    command = [sys.executable, "-m", "streamlit", "run", "page.py", "--browser.gatherUsageStats=false"]
    command += ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
    with serving(command, port, folder, folder / "log.txt") as server:
        yield server.url, folder / "values.txt"


@pytest.fixture(autouse=True)
def quick_thought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "SECONDS_OF_THOUGHT", (0.01, 0.02))


def test_every_visitor_moves_the_named_slider_and_is_timed(page):
    url, values = page
    values.unlink(missing_ok=True)
    report = measure(url, users=3, changes=4, slider="echoed")
    assert (len(report.seconds), report.errors, report.failed) == (12, [], False)
    assert all(received > 100 for received in report.received)
    seen = values.read_text().split()
    assert len(seen) == 3 * (1 + 4)  # the first view and every change
    assert set(seen) == {"5", "15", "25"}  # the slider's own steps


def test_without_a_name_the_first_slider_is_moved(page):
    url, values = page
    values.unlink(missing_ok=True)
    assert not measure(url, users=1, changes=6).failed
    assert len(set(values.read_text().split())) > 1


def test_a_page_without_that_slider_is_an_error(page):
    report = measure(page[0], users=1, changes=1, slider="missing")
    assert report.failed
    assert report.errors == ["LookupError: the page shows no slider labelled 'missing'"]


def test_an_exception_on_the_page_is_an_error(page):
    report = measure(page[0], users=2, changes=1, query="break=yes")
    assert report.failed
    assert report.errors == ["RuntimeError: ValueError: broken on purpose"] * 2


def test_the_report_gives_nearest_rank_percentiles():
    report = Report(2, seconds=[0.1 * n for n in range(1, 11)], received=[1000] * 10, messages=[9] * 10)
    assert report.percentile_ms(50) == pytest.approx(500)
    assert report.percentile_ms(95) == pytest.approx(1000)
    assert str(report) == (
        "2 visitors, 10 changes: p50 500 ms, p95 1000 ms, max 1000 ms, "
        "1.0 kB in 9 messages a change, 0 errors"
    )
