"""The route that answers the stage's questions: with a message, or with a sentence; and who asks."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from httpx import Response
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.testclient import TestClient

from attention_lab.models.runs.owners import Ownership, write_owned
from attention_lab.models.zoo.catalogue import MAX_CHARACTERS
from attention_lab.pages.explore import figure, routes
from attention_lab.pages.explore.question import Question
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.waiting import Waiting
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.work import StoppedError
from attention_lab.viz_core.viewer.message import header_of, pack
from tests.pages.shared.runs import write_run

MESSAGE = pack(a=1).message(b=2)
ANNA, BEN = ("a" * 43, "b" * 43)
"""Two browsers' cookies."""
Answer = Callable[[Question, Waiting], bytes]


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(routes, "SOON", 60)
    with TestClient(Starlette(routes=routes.routes())) as made:
        yield made


def test_an_answer_is_sent_unpacked_where_all_else_would_be_packed(client: TestClient) -> None:
    """To pack its numbers takes longer than to make them."""
    with TestClient(GZipMiddleware(client.app)) as packing:
        answer = ask(packing, model="untrained", text=" ".join("abcdefgh"))
    assert answer.status_code == 200
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert answer.headers["content-encoding"] == "identity"


def ask(client: TestClient, window: str = "w", cookie: str = "", **asked: Any) -> Response:
    headers = {"X-Window": window, "Cookie": f"{visitors.COOKIE}={cookie}"}
    return client.post(routes.ADDRESS, json=asked, headers=headers)


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answer], None]:
    """Puts another function in the place of what computes the answers."""

    def put(answer: Answer) -> None:
        monkeypatch.setattr(figure, "answered", lambda asked, wait: (Inputs(), answer(asked, wait)))

    return put


def lines_of(content: bytes) -> tuple[list[dict[str, Any]], bytes]:
    """What a long answer says before its message, and the message."""
    said, rest = [], content
    while rest.startswith(b"{"):
        line, _, rest = rest.partition(b"\n")
        said.append(json.loads(line))
    return said, rest


def test_a_question_is_answered_with_its_message_and_remembered_for_its_window(client: TestClient) -> None:
    given = ask(client, "first", model="untrained", text="a b", settings={"n_heads": 2}, link={"layer": "1"})
    assert (given.status_code, given.headers["content-type"]) == (200, "application/octet-stream")
    assert given.headers["cache-control"] == "no-store" and "x-takes-long" not in given.headers
    header = header_of(given.content)
    assert (header["asked"]["text"], header["linked"]) == ("a b", {"layer": 1})
    last = routes.shown_last("first")
    assert last is not None and (last.model, last.text, last.settings["n_heads"]) == ("untrained", "a b", 2)
    assert last.link == {}
    ask(client, "", model="untrained", text="nobody's")
    assert routes.shown_last("other") is None is routes.shown_last("")


def test_a_refused_question_gets_a_sentence_and_changes_nothing(client: TestClient) -> None:
    ask(client, "second", text="the cat slept")
    given = ask(client, "second", model="untrained", settings={"n_heads": 99})
    assert given.status_code == 422
    assert given.json() == {
        "problem": "Heads: 99 is not a whole number from 1 to 16; the previous value is kept."
    }
    last = routes.shown_last("second")
    assert last is not None and last.text == "the cat slept"


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_what_a_form_of_another_site_can_send_is_refused(client: TestClient, kind: str) -> None:
    given = client.post(routes.ADDRESS, content=b'{"text": "a"}', headers={"Content-Type": kind})
    assert (given.status_code, given.text) == (415, "Send the question as application/json.")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"text": "x" * (MAX_CHARACTERS + 1)}, "20,001 characters; at most 20,000 are read; remove 1"),
        ({"edits": "x" * 4_001}, "4,001 characters; at most 4,000 are read; remove 1"),
    ],
)
def test_what_is_too_long_is_refused_by_the_rule_of_its_field(
    client: TestClient, asked: dict[str, str], sentence: str
) -> None:
    given = ask(client, **asked)
    assert given.status_code == 422 and sentence in given.json()["problem"]


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"", 400, "the body: Invalid JSON"),
        (b"[" * 10_000, 400, "the body: Invalid JSON"),
        (b'{"more": 1}', 400, "more: Extra inputs are not permitted"),
        (b'{"' + 4_000 * b"9" + b'": 1}', 400, f"{60 * '9'}: Extra inputs are not permitted"),
        (b'{"text": "\\ud800"}', 400, "the body: Invalid JSON"),
        (b'{"text": 7}', 400, "text: Input should be a valid string"),
        (b" " * (routes.MOST_QUESTION + 1), 413, "This is more than "),
    ],
)
def test_what_is_no_question_is_refused_in_a_sentence(
    client: TestClient, body: bytes, status: int, sentence: str
) -> None:
    given = client.post(routes.ADDRESS, content=body, headers={"Content-Type": "application/json"})
    assert given.status_code == status and given.text.startswith(sentence), given.text


def test_the_cookie_tells_visitors_apart(
    client: TestClient, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    model = write_run(runs, "reverse")
    write_owned(runs / "reverse", Ownership(owner=visitors.visitor_with(ANNA).id))
    assert ask(client, cookie=ANNA, model=model, text="abc").status_code == 200
    sentence = "'run:reverse' is no run with a checkpoint on this machine; the previous model stays loaded."
    for cookie in (BEN, "", "odd"):
        given = ask(client, cookie=cookie, model=model, text="abc")
        assert (given.status_code, given.json()) == (422, {"problem": sentence})


def test_folders_of_the_server_are_not_told_in_a_class(
    client: TestClient, runs: Path, monkeypatch: pytest.MonkeyPatch, answering: Callable[[Answer], None]
) -> None:
    def refuse(asked: Question, waiting: Waiting) -> bytes:
        raise ValueError(f"{runs}/reverse/config.json is damaged")

    answering(refuse)
    assert ask(client).json() == {"problem": f"{runs}/reverse/config.json is damaged."}
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    assert ask(client).json() == {"problem": "reverse/config.json is damaged."}


def test_a_long_answer_says_how_far_it_is_and_comes_whole(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, answering: Callable[[Answer], None]
) -> None:
    monkeypatch.setattr(routes, "SOON", 0)
    monkeypatch.setattr(routes, "TELL_SECONDS", 0.01)

    def slowly(asked: Question, waiting: Waiting) -> bytes:
        for done in (1, 2):
            waiting.note_layers(done, 2)
            time.sleep(0.2)
        if asked.text == "no":
            raise ValueError("no such text")
        return MESSAGE

    answering(slowly)
    given = ask(client)
    assert (given.status_code, given.headers["x-takes-long"]) == (200, "1")
    said, message = lines_of(given.content)
    layers = [{"progress": f"Computing the figure: {done} of 2 layers are done."} for done in (1, 2)]
    assert said[-3:] == [*layers, {"bytes": len(MESSAGE)}] and message == MESSAGE
    said, message = lines_of(ask(client, text="no").content)
    assert said[-1] == {"problem": "No such text."} and message == b""


def endless(seen: list[Any]) -> Answer:
    """Computes until nobody waits, but for the text "quick"."""

    def answer(asked: Question, waiting: Waiting) -> bytes:
        if asked.text == "quick":
            return MESSAGE
        seen.append("begun")
        try:
            for _ in range(1_000):
                waiting.check()
                time.sleep(0.01)
        except StoppedError:
            seen.append("stopped")
            raise
        raise AssertionError("it went on")

    return answer


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_newer_question_of_the_same_window_stops_the_older(
    client: TestClient, answering: Callable[[Answer], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    answering(endless(seen))
    with ThreadPoolExecutor() as pool:
        older = pool.submit(ask, client, "mine", ANNA)
        until(lambda: seen == ["begun"])
        for others in (("mine", BEN), ("other", ANNA)):
            assert ask(client, *others, text="quick").status_code == 200
        assert not older.done()
        assert ask(client, "mine", ANNA, text="quick").status_code == 200
        given = older.result(timeout=10)
    assert seen == ["begun", "stopped"]
    assert (given.status_code, given.json()) == (422, {"problem": "Something newer was asked for."})


def test_too_many_at_once_are_told_to_wait(
    client: TestClient, answering: Callable[[Answer], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "MOST_ASKING", 1)
    seen: list[Any] = []
    answering(endless(seen))
    with ThreadPoolExecutor() as pool:
        first = pool.submit(ask, client, "one", ANNA)
        until(lambda: seen == ["begun"])
        given = ask(client, "two", ANNA, text="quick")
        assert (given.status_code, given.text) == (
            503, "Many ask this server just now; try again in a moment."
        )  # fmt: skip
        until(lambda: bool(routes._asking))
        routes._asking[f"{ANNA} one"].stop()
        assert first.result(timeout=10).status_code == 422
    assert ask(client, "two", ANNA, text="quick").status_code == 200


def test_work_ends_where_the_browser_goes(
    answering: Callable[[Answer], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "SOON", 0)
    monkeypatch.setattr(routes, "TELL_SECONDS", 0.01)
    seen: list[Any] = []
    answering(endless(seen))
    gone = threading.Event()

    async def visit() -> None:
        messages = iter([{"type": "http.request", "body": b"{}"}])

        async def receive() -> Any:
            for message in messages:
                return message
            while not gone.is_set():
                await asyncio.sleep(0.01)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message.get("body"):  # the first sentence has come
                gone.set()

        scope = {
            "type": "http", "method": "POST",
            "path": routes.ADDRESS, "query_string": b"", "client": ("127.0.0.1", 1),
            "headers": [(b"content-type", b"application/json")],
        }  # fmt: skip
        await asyncio.wait_for(Starlette(routes=routes.routes())(scope, receive, send), 10)

    asyncio.run(visit())
    until(lambda: seen == ["begun", "stopped"])
