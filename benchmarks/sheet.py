"""A class on one work sheet, beside the server on this machine.

    python -m benchmarks.sheet [--students 60] [--workers 1 2]

Students are plain HTTP clients. They begin within ten seconds; each takes the sheet, chooses, writes, hands
in the link of a page, and two links whose rules need the model, with texts that nobody else has.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2 as httpx

from benchmarks.class_load import processor_seconds
from benchmarks.percentile import percentile
from benchmarks.setting import print_table, verdict
from tools.background_servers import served, serving_the_app

AT_MOST_P95_MS = 1_000
ARRIVAL_SECONDS = 10.0
THINKING_SECONDS = (1.0, 4.0)
NOUNS = ("dog", "cat", "boy", "girl", "man", "woman", "student", "teacher")
PLACES = ("street", "garden", "bridge", "river", "road", "alley", "park", "house")


NUMBER = "open.pattern query=it key=1 > 2"
EDIT = quote("encoder.1.self heads 0: zero")


def stop(title: str, link: str = "", **more: Any) -> dict[str, Any]:
    return {"title": title, "line": 1, "link": link, "notes": "", "question": None, "settings": {}} | more


SHEET = {
    "title": "A sheet", "about": "", "settings": {},
    "stops": [
        stop("a choice", question={"ask": "?", "options": ["no", "yes"], "right": 1, "because": ""}),
        stop("a text", settings={"write": "200"}),
        stop("a rule on the link", "masks", settings={"rule": "part = reach"}),
        stop("a number of the trace", "?head=0", settings={"rule": NUMBER}),
        stop("what it writes under an edit", "?", settings={"rule": "output contains elle, output lacks il"}),
    ],
}  # fmt: skip


class Student:
    """One of a class. number: unlike that of any other."""

    def __init__(self, client: httpx.AsyncClient, code: str, number: int) -> None:
        self.client, self.code, self.number = client, code, number
        self.headers: dict[str, str] = {}
        self.seconds: dict[str, list[float]] = {}

    async def ask(self, what: str, method: str, path: str, content: Any = None) -> Any:
        begun = time.perf_counter()
        answer = await self.client.request(
            method, f"/class/{self.code}{path}", json=content, headers=self.headers, timeout=60
        )
        answer.raise_for_status()
        self.seconds.setdefault(what, []).append(time.perf_counter() - begun)
        return answer.json() if answer.content else None

    def texts(self) -> list[str]:
        """Of the two tasks that need the model."""
        noun, place = NOUNS[self.number % 8], PLACES[self.number // 8 % 8]
        text = f"the {noun} did not cross the {place} because it was {{}}"
        return [text.format(word) for word in ("tired", "wide")]

    async def work(self) -> None:
        await asyncio.sleep(random.uniform(0, ARRIVAL_SECONDS))
        await self.ask("the sheet", "GET", "/sheet")
        joined = await self.ask("to begin", "POST", "/students", {"name": f"Student {self.number}"})
        self.headers = {"Authorization": f"Bearer {joined['token']}"}
        number, written = (f"?text={quote(text)}" for text in self.texts())
        links = [
            {"link": "masks?part=reach"},
            {"link": f"{number}&head=1"},
            {"link": f"{written}&edits={EDIT}"},
        ]
        for at, given in enumerate([{"option": 1}, {"text": "because"}, *links]):
            await self.ask("another task", "PUT", "/at", {"at": at})
            await asyncio.sleep(random.uniform(*THINKING_SECONDS))
            await self.ask(SHEET["stops"][at]["title"], "PUT", f"/answers/{at}", given)  # type: ignore[index]


async def watch(client: httpx.AsyncClient, code: str, secret: str, seconds: list[float]) -> None:
    """The teacher's page, which looks every three seconds."""
    while True:
        begun = time.perf_counter()
        headers = {"Authorization": f"Bearer {secret}"}
        (await client.get(f"/class/{code}/progress", headers=headers)).raise_for_status()
        seconds.append(time.perf_counter() - begun)
        await asyncio.sleep(3)


async def measured(url: str, n_students: int) -> dict[str, list[float]]:
    """The seconds of each kind of request."""
    limits = httpx.Limits(max_connections=2 * n_students)
    async with httpx.AsyncClient(base_url=url, limits=limits) as client:
        given = {"sheet": SHEET, "ends": time.time() + 86_400}
        opened = (await client.post("/class/", content=json.dumps(given), timeout=120)).json()
        students = [Student(client, opened["code"], number) for number in range(n_students)]
        seconds: dict[str, list[float]] = {"the teacher's page": []}
        watching = asyncio.create_task(
            watch(client, opened["code"], opened["secret"], seconds["the teacher's page"])
        )
        await asyncio.gather(*(student.work() for student in students))
        watching.cancel()
    for student in students:
        for what, taken in student.seconds.items():
            seconds.setdefault(what, []).extend(taken)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=60)
    parser.add_argument("--workers", type=int, nargs="+", default=[1])
    options = parser.parse_args()
    for workers in options.workers:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
            log = Path(folder) / "log.txt"
            server = opened.enter_context(
                serving_the_app(log) if workers == 1 else served(Path(folder), workers=workers)
            )
            before, begun = processor_seconds(server), time.perf_counter()
            seconds = asyncio.run(measured(server.url, options.students))
            busy = (processor_seconds(server) - before) / (time.perf_counter() - begun)
        rows = []
        for what, each in seconds.items():
            middle, most = (1_000 * percentile(each, percent) for percent in (50, 95))
            rows.append([what, len(each), round(middle), verdict(most, AT_MOST_P95_MS)])
        title = f"{options.students} students, {workers} process{'es' * (workers > 1)}, {busy:.0%} of a core"
        print_table(title, ["request", "how many", "median, ms", "p95, ms"], rows)


if __name__ == "__main__":
    main()
