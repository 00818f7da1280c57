"""Whether anyone waits for what others find dear: `make bench-load`.

    python -m benchmarks.dear_links [--dear 10] [--changes 40]

In a class, ten visitors open one dear link after the other; another changes a small model's seed all the
while. Beside it, in the same run: a server that computes everything on one thread.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from benchmarks import servers
from benchmarks.percentile import percentile
from benchmarks.setting import print_table, verdict
from benchmarks.visitors import Visitor
from tools.background_servers import serving_the_app

AT_MOST_P95_MS = 300
DEAR: dict[str, Any] = {
    "n_layers": 8,
    "n_heads": 16,
    "d_model": 512,
    "d_head": 128,
    "positions": "transformer-xl",
}
WORDS = 480
EVERYTHING_IS_CHEAP = "cheap_billions = 100_000\n"
PAUSE_SECONDS = 0.5


async def on_page(url: str, query: str) -> tuple[object, Visitor]:
    address = "ws" + url.removeprefix("http") + "/_stcore/stream"
    connection = connect(address, max_size=None, ping_interval=None, subprotocols=[Subprotocol("streamlit")])
    return connection, Visitor(await connection.__aenter__(), query, "Seed")


async def keep_opening(url: str, number: int, done: asyncio.Event, opened: list[float]) -> None:
    seed = 100 * number  # nobody opens what another has opened
    while not done.is_set():
        seed += 1
        connection, visitor = await on_page(url, servers.untrained(WORDS, **DEAR, seed=seed))
        start = time.perf_counter()
        loading = asyncio.create_task(visitor.load())
        await asyncio.wait([loading, asyncio.create_task(done.wait())], return_when=asyncio.FIRST_COMPLETED)
        if loading.done() and not loading.exception():
            opened.append(time.perf_counter() - start)
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)
        await connection.__aexit__(None, None, None)  # type: ignore[attr-defined]


async def measured(url: str, dear: int, changes: int) -> tuple[list[float], list[float]]:
    """Seconds of the cheap visitor's changes, and of the dear links that were opened meanwhile."""
    _, cheap = await on_page(url, servers.untrained(16))
    await cheap.load()
    done, opened, seconds = asyncio.Event(), list[float](), list[float]()
    others = [asyncio.create_task(keep_opening(url, at, done, opened)) for at in range(dear)]
    await asyncio.sleep(10)  # until they are all in the queue
    for seed in range(changes):
        await asyncio.sleep(PAUSE_SECONDS)
        start = time.perf_counter()
        await cheap.move_slider(float(seed))
        seconds.append(time.perf_counter() - start)
    done.set()
    await asyncio.gather(*others, return_exceptions=True)
    return seconds, opened


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dear", type=int, default=10, help="visitors who open dear links")
    parser.add_argument("--changes", type=int, default=40, help="by the other one")
    options = parser.parse_args()
    rows = []
    for name, limits, changes in (
        ("dear work in a process of its own", "", options.changes),
        ("one thread", EVERYTHING_IS_CHEAP, min(options.changes, 3)),  # each waits for ten links
    ):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "limits.toml"
            file.write_text(limits)
            settings = {"ATTENTION_LAB_CLASS": "1", "ATTENTION_LAB_LIMITS": str(file)}
            with serving_the_app(Path(folder) / "log.txt", **settings) as server:
                seconds, opened = asyncio.run(measured(server.url, options.dear, changes))
        p50, p95 = (1_000 * percentile(seconds, percent) for percent in (50, 95))
        rows.append([name, f"{p50:.0f}", verdict(p95, AT_MOST_P95_MS), len(opened)])
    title = f"One visitor's changes while {options.dear} others open dear links"
    print_table(title, ["", "p50 ms", "p95 ms", "dear links opened"], rows)


if __name__ == "__main__":
    main()
