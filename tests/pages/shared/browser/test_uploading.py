"""The body of a file on its way: how fast it must come, and how long it is held once it has come."""

import asyncio
import time
from collections import Counter

import pytest
from starlette.types import Message, Receive, Scope, Send

from attention_lab.pages.shared.browser import uploading

SCOPE: Scope = {"type": "http", "method": "PUT", "path": "/_stcore/upload_file/tab/file", "headers": []}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "_asking", {"tab": "anna", "other": "ben", "third": "ben"})
    monkeypatch.setattr(uploading, "_coming", Counter())
    monkeypatch.setattr(uploading, "_held", {})
    monkeypatch.setattr(uploading, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(uploading, "LEAST_A_SECOND", 1_000)


def sent(parts: int, n_bytes: int, pause: float) -> tuple[int, bytes, float]:
    """The status, the sentence and the seconds of a request that sends parts, with pauses between them."""
    answers: list[Message] = []
    left = iter(range(parts))

    async def receive() -> Message:
        await asyncio.sleep(pause)
        return {"type": "http.request", "body": bytes(n_bytes), "more_body": next(left) < parts - 1}

    async def send(message: Message) -> None:
        answers.append(message)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["more_body"]:
            pass
        await send({"type": "http.response.start", "status": 204})

    before = time.monotonic()
    asyncio.run(uploading.Uploading(app)(SCOPE, receive, send))
    assert +uploading._coming == Counter()
    return answers[0]["status"], answers[-1].get("body", b""), time.monotonic() - before


def test_what_comes_fast_enough_or_in_a_short_time_is_taken() -> None:
    for parts, n_bytes, pause in ((20, 100, 0.05), (2, 1, 0.05), (1, 10_000_000, 0.0)):
        assert sent(parts, n_bytes, pause)[0] == 204
        assert uploading._held["tab", "file"][1] == parts * n_bytes


def test_what_comes_slower_than_the_least_speed_or_stops_is_ended() -> None:
    status, said, seconds = sent(10_000, 10, 0.05)  # 200 bytes a second
    assert status == 408 and 0.15 < seconds < 1
    assert said.startswith(b"Too slow: ") and b"under 1.0 kB a second" in said
    status, _, seconds = sent(2, 5_000, 2.0)
    assert status == 408 and seconds < 1
    monkey = sent(2, 60_000_000, 0.0)
    assert monkey[0] == 204


def test_a_body_that_is_larger_than_it_declares_is_ended_at_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uploading, "MOST_OF_A_VISITOR", 50_000_000)
    monkeypatch.setitem(SCOPE, "headers", [(b"content-length", b"10")])
    status, said, _ = sent(100, 1_000_000, 0.0)
    assert status == 413 and said.startswith(b"1.0 MB do not fit beside yours of 51 MB")


def test_files_count_for_their_visitor_and_not_once_a_page_had_time_to_read_them() -> None:
    for place in (("tab", "1"), ("other", "2"), ("third", "3")):
        uploading._held[place] = time.monotonic(), 60_000_000
    assert uploading.refusal("tab", 60_000_000) is None
    refused = uploading.refusal("third", 60_000_000)
    assert refused is not None and refused[0] == 413 and "beside yours of 120 MB" in refused[1]
    uploading._held["other", "2"] = time.monotonic() - uploading.HELD_SECONDS, 60_000_000
    assert uploading.refusal("third", 60_000_000) is None
    assert list(uploading._held) == [("tab", "1"), ("third", "3")]


def test_what_a_person_removes_counts_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    sent(1, 1_000, 0.0)
    monkeypatch.setitem(SCOPE, "method", "DELETE")
    sent(1, 0, 0.0)
    assert uploading._held == {}


def test_a_page_that_asks_for_no_file_forgets_those_of_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (("tab", "1"), ("other", "2")):
        uploading._held[place] = time.monotonic(), 1_000
    monkeypatch.setattr(uploading.streamlit_internals, "session_id", lambda: "tab")
    uploading.expect_none()
    assert list(uploading._held) == [("other", "2")]
