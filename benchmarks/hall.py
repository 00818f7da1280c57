"""A hall that follows a talk, beside the server on this machine.

    python -m benchmarks.hall [--followers 200 500] [--presses 20]

Followers are plain connections, as a browser's: each hears the events, fetches the picture that they name,
and comes back where it is cut off. One of them is a page in Chromium. A press goes the whole way: from a
clicker to the show, which tells the record, to the followers.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
from playwright.async_api import Browser, Frame, async_playwright

from attention_lab.pages.lab import static as lab
from attention_lab.pages.lab.lesson import lab_page
from attention_lab.viz_core.viewer.message import with_header
from benchmarks.class_load import processor_seconds
from benchmarks.percentile import percentile
from benchmarks.setting import print_table, verdict
from tools import chromium
from tools.background_servers import Served, Server, served, serving_the_app

AT_MOST_P95_MS = 1_000
BUSY = 0.6  # of a core, at most, between presses
ARRIVAL_SECONDS = 10.0
BETWEEN_SECONDS = 1.5
QUIET_SECONDS = 10.0
POINTER_SECONDS = 0.1
AT_LARGEST = 1 << 20  # bytes of an event
PICTURE_BYTES = 130_000  # of the view with which Explore opens, packed; of the lab's boards 99% have fewer
PAINTED = """() => {
    globalThis.painted = {};
    addEventListener("attention-lab:painted", ({ detail }) =>
        requestAnimationFrame(() => (painted[detail.generation] ??= Date.now() / 1000)));
}"""
RECORD: dict[str, Any] = {
    "title": "A talk", "stops": [f"Stop {at}" for at in range(12)], "at": 0, "link": "masks", "picture": None,
    "next": None, "hidden": [], "blank": False, "pointer": None, "ink": [],
    "timer": {"started": 0, "minutes": 10}, "driver": "", "asked": None,
}  # fmt: skip


class Follower:
    """Somebody who follows a hall. shown: when each picture was told of and its bytes were there."""

    def __init__(self, url: str, code: str, secret: str = "") -> None:
        self.host, self.port = str(urlsplit(url).hostname), int(urlsplit(url).port or 80)
        self.path, self.secret, self.cookie = f"/hall/{code}", secret, ""
        self.state: dict[str, Any] = {}
        self.pictures: set[str] = set()
        self.shown: dict[str, float] = {}
        self.n_connections, self.ended, self.last = 0, False, ""
        self.on_press: Callable[[dict[str, Any]], Awaitable[None]] | None = None

    async def follow(self) -> None:
        """Until the hall ends; a connection that is cut is made again."""
        while not self.ended:
            with suppress(OSError, asyncio.IncompleteReadError, httpx.HTTPError):
                await self._listen()
            await asyncio.sleep(random.uniform(0.2, 1.0))

    async def _listen(self) -> None:
        head, reader, writer = await self._asked(f"{self.path}/events")
        self.ended = b" 404 " in head
        if b" 200 " in head:
            self.n_connections += 1
            fetching = asyncio.create_task(self._fetch())
            try:
                while not self.ended:
                    # An event is one part of what is sent in parts, each with its length before it.
                    await self._hear(await reader.readuntil(b"\n\n"))
            finally:
                fetching.cancel()
        writer.close()

    async def _asked(
        self, path: str, *headers: str
    ) -> tuple[bytes, asyncio.StreamReader, asyncio.StreamWriter]:
        """The head of the answer, and what follows it."""
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=AT_LARGEST)
        if self.secret:
            headers += (f"Authorization: Bearer {self.secret}",)
        if self.last:
            headers += (f"Last-Event-ID: {self.last}",)
        lines = (f"GET {path} HTTP/1.1", f"Host: {self.host}:{self.port}", *headers, "", "")
        writer.write("\r\n".join(lines).encode())
        return await reader.readuntil(b"\r\n\r\n"), reader, writer

    async def _hear(self, raw: bytes) -> None:
        event = raw[raw.find(b"data: ") + 6 :] if b"data: " in raw else b"{}"
        told = json.loads(event)
        self.state = told.get("whole", self.state) | told.get("change", {})
        self.ended = told.get("ended", False)
        self._note()
        if "press" in told:
            self.last = str(told["number"])
            if self.on_press:
                await self.on_press(told["press"])

    def _note(self) -> None:
        picture = self.state.get("picture")
        if picture and picture["file"] in self.pictures:
            self.shown.setdefault(picture["file"], time.perf_counter())

    async def _fetch(self) -> None:
        """Fetches each picture that is new."""
        while True:
            known = [picture for picture in (self.state.get("picture"), self.state.get("next")) if picture]
            wanted = [picture["file"] for picture in known if picture["file"] not in self.pictures]
            if not wanted:
                await asyncio.sleep(0.01)
                continue
            if not self.state["picture"] or wanted[0] != self.state["picture"]["file"]:
                await asyncio.sleep(random.uniform(0, 1))  # what comes next has time
            with suppress(OSError, asyncio.IncompleteReadError):
                head, reader, writer = await self._asked(
                    f"{self.path}/pictures/{wanted[0]}", "Connection: close"
                )
                if b" 200 " in head and await reader.read():
                    self.pictures.add(wanted[0])
                    self._note()
                writer.close()


class Show:
    """The lecturer's end: opens a hall, hears presses, tells the record and keeps pictures."""

    def __init__(self, url: str) -> None:
        self.client = httpx.AsyncClient(base_url=url, timeout=30)
        self.url, self.record = url, dict(RECORD)

    async def open(self) -> None:
        answer = (await self.client.post("hall/", json=self.record)).raise_for_status().json()
        self.code, self.secret = answer["code"], answer["secret"]
        self.client.headers["Authorization"] = f"Bearer {self.secret}"
        self.ear = Follower(self.url, self.code, self.secret)

    async def tell(self, **changed: Any) -> None:
        """Until it is told, as a browser does."""
        self.record |= changed
        while True:
            with suppress(httpx.HTTPError):
                (await self.client.put(f"hall/{self.code}", json=self.record)).raise_for_status()
                return
            await asyncio.sleep(1)

    async def keep(self, content: bytes) -> dict[str, Any]:
        """The picture, as a record names it."""
        file = hashlib.sha256(content).hexdigest()
        (await self.client.put(f"hall/{self.code}/pictures/{file}", content=content)).raise_for_status()
        return {"kind": "board", "file": file, "state": None}

    async def press(self, **pressed: Any) -> None:
        (await self.client.post(f"hall/{self.code}/press", json=pressed)).raise_for_status()


@dataclass
class Load:
    followers: int
    workers: int
    ahead: list[float] = field(default_factory=list)
    """Seconds from a press to the changed picture, where it was fetched ahead."""
    jumped: list[float] = field(default_factory=list)
    """The same where it was not."""
    painted: list[float] = field(default_factory=list)
    """The same, ahead or not, until Chromium has drawn it."""
    quiet: float = 0.0
    """Cores that the servers take between presses."""
    pointing: float = 0.0
    """The same while a pointer moves."""
    back: float = 0.0
    """Seconds until all were back where one of two servers was killed."""

    @property
    def row(self) -> list[str]:
        times = (self.ahead, self.jumped, self.painted)
        verdicts = (verdict(1e3 * percentile(each, 95), AT_MOST_P95_MS) for each in times)
        shares = (f"{share:.0%} of a core" for share in (self.quiet, self.pointing))
        name = f"{self.followers} followers, {self.workers} server{'s'[: self.workers - 1]}"
        return [name, *verdicts, *shares, f"{self.back:.1f} s" if self.back else "–"]


def _message(generation: int) -> bytes:
    """A board of the lab, with other bytes each time, and as many as a large one has."""
    board = lab.parts_of(lab_page("softmax"))[0].states[0].message
    padding = random.Random(generation).randbytes(3 * PICTURE_BYTES // 4)
    return with_header(board, generation=generation, padding=base64.b64encode(padding).decode())


async def measure(found: Server, load: Load, presses: int) -> None:
    show = Show(found.url)
    await show.open()
    pictures = [await show.keep(_message(at)) for at in range(2 * presses + 1)]
    await show.tell(picture=pictures[0], next=pictures[1])
    followers = [Follower(found.url, show.code) for _ in range(load.followers)]

    async def go(press: dict[str, Any]) -> None:
        at = press["stop"]
        await show.tell(at=at, picture=pictures[at], next=pictures[at + 1] if at < presses else None)

    show.ear.on_press = go
    async with asyncio.TaskGroup() as group, async_playwright() as playwright:
        group.create_task(show.ear.follow())
        for follower in followers:
            group.create_task(follower.follow())
            await asyncio.sleep(ARRIVAL_SECONDS / load.followers)
        await _until(lambda: all(pictures[1]["file"] in follower.pictures for follower in followers))
        browser = await playwright.chromium.launch(executable_path=chromium.find())
        drawn = await _drawn(browser, f"{found.url}/hall/{show.code}")
        for at in range(1, 2 * presses + 1):
            await asyncio.sleep(BETWEEN_SECONDS)
            pressed, clock, file = time.perf_counter(), time.time(), pictures[at]["file"]
            await show.press(type="to", stop=at)
            await _until(lambda file=file: all(file in follower.shown for follower in followers))
            times = load.ahead if at <= presses else load.jumped
            times += [follower.shown[file] - pressed for follower in followers]
            while not (painted := await drawn.evaluate(f"painted[{at}] ?? 0")):
                await asyncio.sleep(0.02)
            load.painted.append(painted - clock)
        await browser.close()
        load.quiet = await _busy(found, asyncio.sleep(QUIET_SECONDS))
        load.pointing = await _busy(found, _point(show))
        if isinstance(found, Served):
            load.back = await _killed(found, show, followers)
        (await show.client.delete(f"hall/{show.code}")).raise_for_status()
        await _until(lambda: all(follower.ended for follower in followers))
    await show.client.aclose()


async def _drawn(browser: Browser, address: str) -> Frame:
    """The picture in a follower's page, which notes when it is painted."""
    page = await browser.new_page()
    await page.goto(address)
    await page.wait_for_selector("iframe[title='What is shown']")
    (frame,) = page.main_frame.child_frames
    await frame.wait_for_selector(".board[data-generation]")
    await frame.evaluate(PAINTED)
    return frame


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.005)


async def _busy(found: Server, waited: Awaitable[None]) -> float:
    """The cores that all processes of the servers take meanwhile."""
    before, since = processor_seconds(found), time.perf_counter()
    await waited
    return (processor_seconds(found) - before) / (time.perf_counter() - since)


async def _point(show: Show) -> None:
    for at in range(round(QUIET_SECONDS / POINTER_SECONDS)):
        await show.tell(pointer={"panel": "", "x": at % 100 / 100, "y": 0.5})
        await asyncio.sleep(POINTER_SECONDS)
    await show.tell(pointer=None)


async def _killed(found: Served, show: Show, followers: list[Follower]) -> float:
    """Kills one of the servers; seconds until all know what was told since."""
    since = time.perf_counter()
    found.kill(found.servers()[0]["port"])
    await show.tell(at=-1)
    await _until(lambda: all(follower.state["at"] == -1 for follower in followers))
    return time.perf_counter() - since


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--followers", type=int, nargs=2, default=[200, 500], help="of one server, of two")
    parser.add_argument("--presses", type=int, default=10, help="with and without what comes fetched ahead")
    options = parser.parse_args()
    rows = []
    for workers, followers in enumerate(options.followers, start=1):
        load = Load(followers, workers)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            running = served(folder) if workers > 1 else serving_the_app(folder / "log.txt")
            with running as found:
                asyncio.run(measure(found, load, options.presses))
        rows.append(load.row)
    columns = ["", "p95, fetched ahead, ms", "p95, a jump, ms", "p95, painted, ms"]
    columns += ["between presses", "while a pointer moves", "all back after a kill"]
    print_table("A hall that follows", columns, rows)


if __name__ == "__main__":
    main()
