"""What a page costs its visitors and the server: messages and bytes, which no other load disturbs."""

import asyncio
import re
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from benchmarks import servers
from benchmarks.visitors import Visitor
from tools.background_servers import Server, serving_the_app


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving_the_app(tmp_path_factory.mktemp("cost") / "log.txt") as server:
        yield server


def cost(server: Server, query: str, slider: str, values: list[float]) -> list[tuple[int, int]]:
    """Messages and bytes of the first view, then those of each value that the slider is moved to."""

    async def visit() -> list[tuple[int, int]]:
        address = f"ws{server.url.removeprefix('http')}/_stcore/stream"
        async with connect(address, max_size=None, subprotocols=[Subprotocol("streamlit")]) as socket:
            visitor = Visitor(socket, query, slider)
            found = [(await visitor.load(), visitor.n_messages)]
            for value in values:
                found.append((await visitor.move_slider(value), visitor.n_messages))
        return [(count, received) for received, count in found]

    with ThreadPoolExecutor(1) as thread:  # a browser of other tests may have its event loop in this one
        return thread.submit(asyncio.run, visit()).result()


def program_bytes(server: Server) -> int:
    """The bytes of our own program that the opening page fetches."""
    with urllib.request.urlopen(server.url) as answer:
        (address,) = re.findall(
            r'modulepreload" href="\.(/programs/attention_lab_stage[^"]*)"', answer.read().decode()
        )
    request = urllib.request.Request(server.url + address, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request) as answer:
        return len(answer.read())


def test_a_changed_control_sends_little_more_than_the_figure(server: Server) -> None:
    _, *changes = cost(server, servers.untrained(32), "Seed", [3, 4, 5])
    assert all(messages <= 12 and received <= 150_000 for messages, received in changes), changes


def test_the_opening_page_is_small(server: Server) -> None:
    ((messages, received), (changed, _)) = cost(server, "", "Beam width", [3])
    assert messages <= 50 and changed <= 12
    assert received + program_bytes(server) <= 260_000
