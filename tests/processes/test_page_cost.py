"""What a page costs its visitors and the server, in what other load disturbs little: messages, bytes, and the
processor's time beside that of a plain page.
"""

import asyncio
import re
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from benchmarks import servers
from benchmarks.visitors import Visitor
from tools.background_servers import Server

TIMES_THE_FLOOR = 8.0
"""The most; 3.4 were measured. The floor is a plain page that echoes its slider, whose server collects no
garbage after a run, as ours does not.
"""


@dataclass(frozen=True)
class Cost:
    """Of one run of a page's script; `seconds` are those of the server's processor since its start."""

    n_messages: int
    n_bytes: int
    seconds: float


def costs(server: Server, query: str, slider: str, values: list[float]) -> list[Cost]:
    """Those of the first view, and then of each value that the slider is moved to."""
    process = psutil.Process(server.process.pid)

    async def visit() -> list[Cost]:
        address = f"ws{server.url.removeprefix('http')}/_stcore/stream"
        async with connect(address, max_size=None, subprotocols=[Subprotocol("streamlit")]) as socket:
            visitor, runs = Visitor(socket, query, slider), []
            for value in (None, *values):
                n_bytes = await (visitor.load() if value is None else visitor.move_slider(value))
                runs.append(Cost(visitor.n_messages, n_bytes, sum(process.cpu_times()[:2])))
        return runs

    with ThreadPoolExecutor(1) as thread:  # a browser of other tests may have its event loop in this one
        return thread.submit(asyncio.run, visit()).result()


def program_bytes(server: Server) -> int:
    """The bytes of our own program and style that the opening page fetches."""
    with urllib.request.urlopen(server.url) as answer:
        addresses = re.findall(r'href="\.(/programs/[^"]*)"', answer.read().decode())
    assert len(addresses) == 2
    n_bytes = 0
    for address in addresses:
        request = urllib.request.Request(server.url + address, headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request) as answer:
            n_bytes += len(answer.read())
    return n_bytes


def test_a_changed_control_sends_little_more_than_the_figure(app: Server) -> None:
    _, *changes = costs(app, servers.untrained(32), "Seed", [3, 4, 5])
    assert all(change.n_messages == 1 and change.n_bytes <= 150_000 for change in changes), changes


def test_a_changed_control_costs_a_few_times_what_an_echoed_slider_does(app: Server, tmp_path: Path) -> None:
    """The first changes are not counted: caches fill in them."""
    values = [float(value) for value in range(1, 46)]
    with servers.plain("echo", tmp_path) as floor:
        visits = costs(floor, "", "value", values), costs(app, servers.untrained(32), "Seed", values)
    plain, ours = (visit[-1].seconds - visit[5].seconds for visit in visits)
    assert ours <= TIMES_THE_FLOOR * plain, f"{ours / plain:.1f} times {1e3 * plain / 40:.1f} ms"


def test_the_opening_page_is_small(app: Server) -> None:
    first, change = costs(app, "", "Beam width", [3])
    assert first.n_messages <= 50 and change.n_messages == 1
    assert first.n_bytes + program_bytes(app) <= 291_000  # twenty models are named
