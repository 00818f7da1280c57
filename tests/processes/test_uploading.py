"""Files on their way to a class: accepted from pages that ask for one, held up to limits, forgotten again;
nobody takes the others' place with what they do not send.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator

import httpx2 as httpx
import pytest

from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.browser import uploading
from tests.processes.visitor import Visitor, visiting
from tools.background_servers import Server


@pytest.fixture
def url(class_app: Server) -> str:
    return class_app.url


@contextlib.asynccontextmanager
async def training(url: str, who: str) -> AsyncIterator[Visitor]:
    """The page on which somebody hands in a text; each letter is another person."""
    async with visiting(url, "train", "task=masked", f"{visitors.COOKIE}={who * 43}") as visitor:
        yield visitor


async def hand_in(url: str, visitor: Visitor, content: bytes, name: str = "some") -> httpx.Response:
    """Sends a file as a browser does."""
    async with httpx.AsyncClient(timeout=60) as client:
        token = (await client.get(f"{url}/_stcore/health")).cookies.get("_streamlit_xsrf", "")
        request = client.build_request(
            "PUT",
            f"{url}/_stcore/upload_file/{visitor.session}/{name}",
            files={"file": ("some.txt", content)},
            headers={"X-Xsrftoken": token},
            cookies={"_streamlit_xsrf": token},
        )
        return await client.send(request)


async def begin(url: str, visitor: Visitor, name: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A request that declares a file of 64 MB, and sends none of it."""
    async with httpx.AsyncClient() as client:
        token = (await client.get(f"{url}/_stcore/health")).cookies.get("_streamlit_xsrf", "")
    host = url.removeprefix("http://")
    reader, writer = await asyncio.open_connection(*host.split(":"))
    head = (
        f"PUT /_stcore/upload_file/{visitor.session}/{name} HTTP/1.1",
        f"Host: {host}",
        "Content-Type: multipart/form-data; boundary=x",
        "Content-Length: 64000000",
        f"X-Xsrftoken: {token}",
        f"Cookie: _streamlit_xsrf={token}",
    )
    writer.write("\r\n".join((*head, "", "")).encode())
    await writer.drain()
    return reader, writer


MB = bytes(1_000_000)


def test_a_page_that_asks_for_no_file_takes_none(url: str) -> None:
    async def visit() -> None:
        async with visiting(url, "attention") as visitor:
            answer = await hand_in(url, visitor, b"text")
            assert (answer.status_code, answer.text) == (
                403,
                "This page takes no file; hand it in on Train or Explore.",
            )
        async with visiting(url, "train", "task=reverse") as visitor:
            assert (await hand_in(url, visitor, b"text")).status_code == 403

    asyncio.run(visit())


def test_files_are_held_up_to_a_limit_of_each_visitor_and_of_all_and_not_without_a_connection(
    url: str,
) -> None:
    async def visit() -> None:
        async with training(url, "a") as first:
            async with training(url, "a") as second, training(url, "b") as other:
                assert (await hand_in(url, first, 60 * MB, "1")).status_code == 204
                assert (await hand_in(url, second, 60 * MB, "2")).status_code == 204
                answer = await hand_in(url, first, 20 * MB, "3")
                assert answer.status_code == 413
                assert answer.text == (
                    "20 MB do not fit beside yours of 120 MB, with 128 MB in all; remove a file, or try "
                    "again in two minutes."
                )
                assert (await hand_in(url, other, 60 * MB)).status_code == 204
                async with training(url, "c") as third:
                    assert (await hand_in(url, third, 60 * MB, "1")).status_code == 204
                    answer = await hand_in(url, third, 60 * MB, "2")
                    assert answer.status_code == 413 and "beside all visitors' of 240 MB" in answer.text
            await asyncio.sleep(1)
            assert (await hand_in(url, first, 60 * MB, "4")).status_code == 204

    asyncio.run(visit())


def test_requests_that_send_nothing_refuse_nobody_and_are_ended(url: str) -> None:
    async def visit() -> None:
        async with training(url, "d") as idle, training(url, "e") as other:
            before = time.monotonic()
            waiting = [await begin(url, idle, str(at)) for at in range(4)]
            assert (await hand_in(url, other, 60 * MB)).status_code == 204
            assert (await hand_in(url, idle, b"some text", "5")).status_code == 204
            for reader, writer in waiting:
                answer = (await asyncio.wait_for(reader.read(), 60)).decode()
                assert answer.startswith("HTTP/1.1 408")
                assert "Too slow: 0 bytes in 15 seconds, under 100 kB a second" in answer
                writer.close()
            assert time.monotonic() - before > uploading.PATIENCE_SECONDS

    asyncio.run(visit())


def test_a_file_that_is_not_there_is_refused_in_a_sentence(url: str) -> None:
    async def visit() -> None:
        async with training(url, "f") as visitor:
            await visitor.take("none")
            assert any("is no longer here; choose it" in line for line in visitor.said)
            assert not any("Error" in line for line in visitor.said), visitor.said
            assert (await hand_in(url, visitor, b"some text", "one")).status_code == 204
            await visitor.take("one")
            assert any("Reads some.txt" in line for line in visitor.said), visitor.said
        async with visiting(url, "", "", f"{visitors.COOKIE}={'f' * 43}") as visitor:
            await visitor.act(
                "stage", json.dumps({"event": "act", "value": {"type": "models", "asked": "{}"}})
            )
            await visitor.take("none")
            assert any("is no longer here; choose it" in line for line in visitor.said)

    asyncio.run(visit())
