"""`make serve`: two servers behind one address; killed, renewed and stopped."""

import asyncio
import contextlib
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psutil
import pytest

from attention_lab.pages.shared import visitors
from benchmarks import servers
from benchmarks.hall import Follower, Show
from benchmarks.visitors import measure
from tools.background_servers import Served, answers, free_port, served, until
from tools.serving.__main__ import Serving


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("serving"), "--drain", "2") as found:
        yield found


def metrics(two: Served) -> dict[str, float]:
    """Every sample by its name with its labels."""
    with urllib.request.urlopen(f"{two.metrics}/metrics", timeout=10) as answer:
        lines = [line for line in answer.read().decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def failures_while(two: Served, done: threading.Event) -> list[str]:
    """Asks for the page and for its figure again and again; what went wrong.

    A connection that is closed as "going away" did not: browsers connect anew at once.
    """
    found = []
    while not done.wait(0.2):
        if not answers(two.url):
            found.append("the document did not come")
        report = measure(two.url, users=1, changes=0, query=servers.untrained(8))
        found += [error for error in report.errors if "1001 (going away)" not in error]
    return found


def test_visitors_are_served_by_both_and_their_work_is_counted(two: Served) -> None:
    report = measure(two.url, users=6, changes=2, query=servers.untrained(16), slider="Seed")
    assert report.errors == [] and len(report.seconds) == 12
    counted = metrics(two)
    assert counted['attention_lab_work_seconds_count{kind="pictures"}'] >= 12
    assert counted['attention_lab_cache_bytes{cache="pictures"}'] > 10_000
    assert counted["attention_lab_waiting"] == 0
    for server in "01":
        assert counted[f'attention_lab_server_up{{server="{server}"}}'] == 1
        assert 1e8 < counted[f'attention_lab_memory_bytes{{server="{server}"}}'] < 2e9  # both have computed


def test_nothing_that_a_visitor_types_is_counted_or_logged(two: Served) -> None:
    report = measure(two.url, users=1, changes=0, query="model=untrained&text=a+very+secret+sentence")
    assert report.errors == []
    with urllib.request.urlopen(f"{two.metrics}/metrics", timeout=10) as answer:
        assert b"secret" not in answer.read()
    assert "Attention Lab: http://" in two.log.read_text() and "secret" not in two.log.read_text()


def test_behind_tls_a_visitors_cookie_goes_by_tls_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(visitors.CLASS, "1")
    with served(tmp_path, workers=1) as one:
        for proto, secure in (("https", True), ("http", False)):
            request = urllib.request.Request(one.url, headers={"X-Forwarded-Proto": proto})
            with urllib.request.urlopen(request, timeout=10) as answer:
                cookies = answer.headers.get_all("Set-Cookie")
            (cookie,) = [cookie for cookie in cookies if cookie.startswith(visitors.COOKIE)]
            assert cookie.endswith("; Secure") is secure


def test_a_browser_stays_on_its_server(two: Served) -> None:
    with urllib.request.urlopen(two.url, timeout=10) as answer:
        (cookie,) = [c for c in answer.headers.get_all("Set-Cookie") if c.startswith("attention_lab_server=")]
    request = urllib.request.Request(two.url, headers={"Cookie": cookie.partition(";")[0]})
    for _ in range(4):
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert not answer.headers.get_all("Set-Cookie")  # no other server was chosen


def test_a_killed_server_is_started_again_and_the_other_answers_meanwhile(two: Served) -> None:
    port = two.servers()[0]["port"]
    asyncio.run(follow_while_killed(two, port))
    assert answers(two.url)
    until(lambda: [s["restarts"] for s in two.servers()] == [1, 0], two.servers)
    until(lambda: all(s["well"] for s in two.servers()), two.servers)
    assert two.servers()[0]["port"] == port


async def follow_while_killed(two: Served, port: int) -> None:
    """A talk and its followers on both servers, of which one is killed: all are at the right stop."""
    show = Show(two.url)
    await show.open()
    followers = [Follower(two.url, show.code) for _ in range(8)]
    everybody, pressed = [show.ear, *followers], []

    async def until_all(holds: Callable[[dict[str, Any]], bool]) -> None:
        async with asyncio.timeout(60):
            while not all(follower.state and holds(follower.state) for follower in everybody):
                await asyncio.sleep(0.02)

    async def go(press: dict[str, Any]) -> None:
        pressed.append(press["stop"])
        await show.tell(at=press["stop"])

    show.ear.on_press = go
    async with asyncio.TaskGroup() as group:
        for follower in everybody:
            group.create_task(follower.follow())
        await until_all(lambda state: state["at"] == 0)
        await show.press(type="to", stop=1)
        await until_all(lambda state: state["at"] == 1)
        two.kill(port)
        with contextlib.suppress(httpx.HTTPError):  # Caddy may not know yet
            await show.press(type="to", stop=2)
        await asyncio.sleep(1)
        while show.record["at"] != 3:
            with contextlib.suppress(httpx.HTTPError):
                await show.press(type="to", stop=3)
            await asyncio.sleep(1)
        await until_all(lambda state: state["at"] == 3)
        assert {follower.n_connections for follower in followers} == {1, 2}  # those of one server came back
        (await show.client.delete(f"hall/{show.code}")).raise_for_status()
    assert all(follower.ended for follower in followers) and pressed[:1] == [1]
    await show.client.aclose()


def test_all_are_renewed_without_a_request_that_fails(two: Served) -> None:
    before = [server["port"] for server in two.servers()]
    done, found = threading.Event(), []
    asking = threading.Thread(target=lambda: found.extend(failures_while(two, done)))
    asking.start()
    two.process.send_signal(signal.SIGHUP)
    try:
        until(lambda: not {s["port"] for s in two.servers()} & set(before), two.servers)
        time.sleep(3)  # the last old one has its time, too
    finally:
        done.set()
        asking.join()
    assert found == []
    assert [server["restarts"] for server in two.servers()] == [1, 0]


def test_a_server_that_holds_too_much_memory_is_renewed_and_one_that_cannot_start_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serving = Serving("127.0.0.1", free_port(), 1, 0, tmp_path)
    try:
        assert serving._start_well(serving.places)
        serving.proxy.start(serving.ports())
        (place,) = serving.places
        first = place.worker
        serving.renew(place)
        assert place.worker.port != first.port and first.process.poll() is not None
        second = place.worker
        monkeypatch.setattr(place, "_settings", {"ATTENTION_LAB_LIMITS": "/nowhere.toml"})
        serving.renew(place)
        assert place.worker is second and second.answers_now()
        monkeypatch.undo()
        serving.proxy.stop()  # then Caddy takes no change
        serving.renew(place)
        assert place.worker is second and second.answers_now()
    finally:
        serving.proxy.stop()
        serving.places[0].worker.stop()


def test_a_taken_port_is_told_in_a_sentence(two: Served) -> None:
    taken = two.metrics.rpartition(":")[2]
    command = [sys.executable, "-m", "tools.serving", "--metrics", f"127.0.0.1:{taken}", "--port", "18501"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert said.returncode == 1
    assert said.stderr.startswith(f"Port {taken} of 127.0.0.1 is busy; stop the program that uses it")


def test_when_it_is_stopped_nothing_is_left(tmp_path: Path) -> None:
    with served(tmp_path, workers=1) as one:
        children = psutil.Process(one.process.pid).children(recursive=True)
        assert len(children) >= 2  # the server, the proxy
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
