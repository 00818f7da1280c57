"""What browsers are answered: who may open a hall, what is refused in a sentence, and what listeners hear."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attention_lab.models.runs.owners import PERSON, Visitor
from attention_lab.pages.hall import routes, store
from attention_lab.pages.hall.routes import Listener, Watch, hall_routes
from attention_lab.pages.hall.store import HALLS, Notes
from attention_lab.pages.shared import teachers, visitors
from attention_lab.pages.talks import show
from benchmarks.hall import RECORD
from tests.pages.hall.test_store import ASKED, UNCOVERED, answer, open_hall, pressed, record


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return TestClient(Starlette(routes=[*hall_routes(), *show.routes()]))


def opened(client: TestClient) -> tuple[str, dict[str, str]]:
    """The address of a new hall, and what its opener shows."""
    answer = client.post("/hall/", json=RECORD).json()
    return f"/hall/{answer['code']}", {"Authorization": f"Bearer {answer['secret']}"}


def test_in_a_class_only_a_teacher_opens_a_hall(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def come(visitor: Visitor, teacher: str) -> tuple[int, str]:
        monkeypatch.setattr(visitors, "visitor_with", lambda token: visitor)
        monkeypatch.setattr(teachers, "configured", lambda: teacher)
        answer = client.post("/hall/", json=RECORD)
        return answer.status_code, answer.text

    assert come(PERSON, "hash")[0] == come(Visitor("a"), "")[0] == come(Visitor("a", True), "hash")[0] == 200
    assert come(Visitor("a"), "hash") == (403, "Here only a teacher opens a hall; sign in on Teacher.")


def test_what_is_none_of_ours_is_refused_in_a_sentence(client: TestClient) -> None:
    here, own = opened(client)
    for path, body, status, sentence in (
        ("", RECORD | {"title": 3}, 400, "title: Input should be a valid string"),
        ("", RECORD | {"asked": {"id": "<b>"}}, 400, "asked.id: String should match"),
        ("", RECORD | {"link": "x" * 200_000}, 413, "This is more than 100"),
        ("/notes", {"notes": [1]}, 400, "notes.0: "),
        ("/pictures/..%2Fx", None, 404, ""),
        ("/pictures/xyz", None, 400, "'xyz' names no picture"),
    ):
        answer = client.put(here + path, content=b"x" if body is None else json.dumps(body), headers=own)
        assert answer.status_code == status and answer.text.startswith(sentence), answer.text
    assert client.put("/hall/nowhere", json=RECORD, headers=own).status_code == 404
    assert client.get(f"{here}/pictures/{'0' * 32}").status_code == 404
    assert client.get("/hall/nowhere/events").text.startswith("There is no talk under 'nowhere'")


def test_a_lecturer_has_pictures_codes_and_answers(client: TestClient) -> None:
    here, own = opened(client)
    content = b"a message " * 1_000
    assert client.put(f"{here}/pictures/{'0a' * 16}", content=content, headers=own).status_code == 204
    sent = client.get(f"{here.upper().replace('HALL', 'hall')}/pictures/{'0a' * 16}")
    assert sent.content == content and int(sent.headers["Content-Length"]) < 100
    assert "immutable" in sent.headers["Cache-Control"]
    drawn = client.post(f"{here}/code", json={"text": "http://lab/hall/x#secret"}, headers=own).json()
    assert drawn["image"].startswith("data:image/svg+xml")
    assert client.post(f"{here}/code", json={"text": "x"}).status_code == 403
    table = client.get(f"{here}/answers.csv", headers=own)
    assert table.text.startswith('"question","option"') and "csv" in table.headers["Content-Type"]
    for document in ("", "/clicker"):
        page = client.get(here + document)
        assert page.status_code == 200 and "programs/hall." in page.text
    assert client.delete(here, headers=own).status_code == 204


class Ear:
    """A connection to a hall, without a network."""

    def __init__(self, watch: Watch, code: str, secret: str = "", after: int = 10**15) -> None:
        self.listener = Listener(bool(secret))
        seen = store.seen_by(code, secret, after)
        self.events: AsyncIterator[bytes] = watch.events(code, seen, self.listener)

    async def hear(self) -> list[dict[str, Any]]:
        """The next events."""
        raw = await asyncio.wait_for(anext(self.events), 10)
        return [json.loads(event.removeprefix("data: ")) for event in raw.decode().split("\n\n") if event]


@pytest.fixture
def hall(client: TestClient) -> Iterator[tuple[str, str]]:
    yield open_hall("anna")


def test_a_follower_hears_the_whole_then_what_changes_and_the_end(hall: tuple[str, str]) -> None:
    code, secret = hall

    async def follow() -> None:
        ear = Ear(Watch(), code)
        assert await ear.hear() == [{"whole": RECORD | {"counts": None, "notes": None}}]
        store.tell(code, secret, record(at=3, asked=ASKED))
        assert await ear.hear() == [{"change": {"at": 3, "asked": ASKED}}]
        store.tell_notes(code, secret, Notes(notes=["secret"]))
        store.press(code, secret, pressed())
        answer(code, "q1", "a", 1)
        await asyncio.sleep(0.2)
        store.tell(code, secret, record(at=3, asked=UNCOVERED))
        assert await ear.hear() == [{"change": {"asked": UNCOVERED, "counts": [0, 1]}}]
        HALLS.close(code, secret)
        assert await ear.hear() == [{"ended": True}]
        with pytest.raises(StopAsyncIteration):
            await ear.hear()

    asyncio.run(follow())


def test_who_drives_hears_notes_counts_and_presses_also_those_missed(hall: tuple[str, str]) -> None:
    code, secret = hall

    async def drive() -> None:
        watch = Watch()
        store.press(code, secret, pressed(type="before"))
        ear = Ear(watch, code, secret)
        assert await ear.hear() == [{"whole": RECORD | {"counts": None, "notes": [], "following": 0}}]
        store.tell(code, secret, record(asked=ASKED))
        assert await ear.hear() == [{"change": {"asked": ASKED, "counts": [0, 0]}}]
        answer(code, "q1", "a", 1)
        assert await ear.hear() == [{"change": {"counts": [0, 1]}}]
        store.press(code, secret, pressed())
        ((heard, number),) = [(event["press"], event["number"]) for event in await ear.hear()]
        assert heard == {"type": "go"}
        store.press(code, secret, pressed(type="blank"))
        await ear.hear()
        again = Ear(watch, code, secret, after=number)
        whole, missed = await again.hear()
        assert whole["whole"]["counts"] == [0, 1] and missed["press"]["type"] == "blank"

    asyncio.run(drive())


def test_who_drives_hears_how_many_follow(hall: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    code, secret = hall
    monkeypatch.setattr(routes, "COUNT_SECONDS", 0.0)

    async def drive() -> None:
        watch = Watch()
        driver, follower = Ear(watch, code, secret), Ear(watch, code)
        await driver.hear()
        await follower.hear()
        assert await driver.hear() == [{"change": {"following": 1}}]
        await follower.events.aclose()
        assert await driver.hear() == [{"change": {"following": 0}}]

    asyncio.run(drive())


def test_a_slow_connection_is_told_the_whole_and_a_silent_one_something(
    hall: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, secret = hall
    monkeypatch.setattr(routes, "MOST_WAITING", 2)
    monkeypatch.setattr(routes, "COMMENT_SECONDS", 0.1)
    monkeypatch.setattr(routes, "LOOK_SECONDS", 0.001)

    async def follow() -> None:
        ear = Ear(Watch(), code)
        await ear.hear()
        assert await anext(ear.events) == b":\n\n"
        for at in range(1, 6):
            store.tell(code, secret, record(at=at))
            await asyncio.sleep(0.05)
        whole, *changes = await ear.hear()
        assert (whole["whole"] | {k: v for c in changes for k, v in c["change"].items()})["at"] == 5

    asyncio.run(follow())


def until(holds: Callable[[], bool]) -> Any:
    async def wait() -> None:
        async with asyncio.timeout(10):
            while not holds():
                await asyncio.sleep(0.01)

    return wait()


def test_without_listeners_nothing_is_looked_at_and_with_a_server_that_ends_all_end(
    hall: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _ = hall

    async def follow() -> None:
        watch = Watch()
        ear = Ear(watch, code)
        await ear.hear()
        assert watch.task
        await ear.events.aclose()
        await until(lambda: watch.task is None and not watch.halls)
        other = Ear(watch, code)
        await other.hear()
        monkeypatch.setattr(routes, "_server_ends", lambda: True)
        with pytest.raises(StopAsyncIteration):
            await other.hear()

    asyncio.run(follow())
