"""Servers that may open few files: as many visitors as fit, a sentence for others, and no lasting harm."""

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx2 as httpx
import psutil
import pytest
from websockets.exceptions import InvalidStatus

from benchmarks.hall import RECORD
from tests.processes.crowd import crowd
from tests.processes.test_uploading import begin
from tests.processes.visitor import Visitor, visiting
from tools.background_servers import Server, serving_the_app

SENTENCE = "This server has room for 48 visitors; this page tries again every 10 seconds."


def files(server: Server) -> int:
    return psutil.Process(server.process.pid).num_fds()


async def until(holds: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds * crowd()
    while not holds() and time.monotonic() < end:
        await asyncio.sleep(0.1)
    return holds()


async def ask(url: str, what: str) -> asyncio.StreamWriter:
    """A request whose answer nobody reads."""
    host = url.removeprefix("http://")
    _, writer = await asyncio.open_connection(*host.split(":"))
    writer.write("\r\n".join((f"{what} HTTP/1.1", f"Host: {host}", "", "")).encode())
    await writer.drain()
    return writer


@contextlib.asynccontextmanager
async def loading(url: str) -> AsyncIterator[Visitor]:
    """A visitor who fetches the page, as a browser does, and then connects."""
    async with httpx.AsyncClient(timeout=60) as client:
        (await client.get(f"{url}/talks")).raise_for_status()
    async with visiting(url, "talks") as visitor:
        yield visitor


def test_a_shell_of_256_files_does_not_limit_the_visitors(tmp_path: Path) -> None:
    async def visit(url: str) -> None:
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(100):
                await stack.enter_async_context(loading(url))
            assert files(server) > 400

    with serving_the_app(tmp_path / "log.txt", files="-Sn 256") as server:
        asyncio.run(visit(server.url))
    told = r"\nIt may open \d+,\d{3} files, enough for some [\d,]+ visitors at a time\.\n"
    assert re.search(told, server.log.read_text())


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that the system does not give more than 256 files."""
    with serving_the_app(tmp_path_factory.mktemp("small") / "log.txt", files="-n 256") as server:
        yield server


def test_one_visitor_after_the_other_finds_room(small: Server) -> None:
    async def visit() -> None:
        for _ in range(120):
            async with loading(small.url):
                pass

    asyncio.run(visit())


def test_who_finds_no_room_is_told_so_and_comes_in_when_others_leave(small: Server) -> None:
    async def visit() -> None:
        async with contextlib.AsyncExitStack() as stack, httpx.AsyncClient() as client:
            answer, n_visitors = await client.get(small.url), 0
            while answer.status_code == 200 and n_visitors < 100:
                await stack.enter_async_context(visiting(small.url, "talks"))
                n_visitors += 1
                answer = await client.get(small.url)
            assert 35 < n_visitors <= 48
            assert (answer.status_code, answer.text, answer.headers["Refresh"]) == (429, SENTENCE, "10")
            german = await client.get(small.url, headers={"Accept-Language": "de-DE,de;q=0.9"})
            assert german.text.startswith("Dieser Server hat Platz für 48 Besucher")
            assert (await client.get(f"{small.url}/hall/abcde/events")).status_code == 404  # room yet
            with pytest.raises(InvalidStatus, match="403"):
                for _ in range(40):  # whoever has the page already
                    await stack.enter_async_context(visiting(small.url, "talks"))
            assert (await client.get(f"{small.url}/hall/abcde/events")).text == SENTENCE
            assert (await client.get(f"{small.url}/_stcore/health")).status_code == 200
        assert small.process.poll() is None
        async with loading(small.url) as visitor:
            assert visitor.widgets or visitor.sent

    asyncio.run(visit())
    assert "Traceback" not in small.log.read_text()


def test_more_connections_than_files_cost_their_senders_a_wait(small: Server) -> None:
    async def visit() -> None:
        host, port = small.url.removeprefix("http://").split(":")
        idle = [await asyncio.open_connection(host, port) for _ in range(300)]
        await asyncio.sleep(2)
        for _, writer in idle:
            writer.close()
        async with loading(small.url):
            pass

    asyncio.run(visit())


def test_of_those_who_left_nothing_is_held(tmp_path: Path) -> None:
    """Neither of pages, nor of halls that were listened to, nor of files that were on their way."""

    async def visit(server: Server) -> None:
        async with loading(server.url):
            pass
        await asyncio.sleep(10)
        before = files(server)
        async with contextlib.AsyncExitStack() as stack, httpx.AsyncClient() as client:
            for _ in range(30):
                await stack.enter_async_context(visiting(server.url, "talks"))
            (opened := await client.post(f"{server.url}/hall/", json=RECORD)).raise_for_status()
            writers = [await ask(server.url, f"GET /hall/{opened.json()['code']}/events") for _ in range(20)]
            training = await stack.enter_async_context(visiting(server.url, "train", "task=masked"))
            writers += [(await begin(server.url, training, f"file{at}"))[1] for at in range(10)]
            assert files(server) >= before + 31 * 4 + 30
            for writer in writers:
                writer.close()
        assert await until(lambda: files(server) <= before + 2, 30), (before, files(server))

    with serving_the_app(tmp_path / "log.txt", STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="10") as server:
        asyncio.run(visit(server))
