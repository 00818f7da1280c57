"""The server as strangers meet it, over HTTP and its websocket: by other names, from other sites, with files
that no page of theirs asks for.
"""

import asyncio
import re

import httpx2 as httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from tools.background_servers import Server

PATHS = ("/", "/train", "/_stcore/health", "/_stcore/host-config", "/favicon.png", "/no/such/page")


@pytest.fixture
def url(app: Server) -> str:
    return app.url


def port(url: str) -> str:
    return url.rpartition(":")[2]


@pytest.mark.parametrize("path", PATHS)
def test_another_name_is_refused_on_loopback(url: str, path: str) -> None:
    for host in (
        "evil.example",
        f"evil.example:{port(url)}",
        "127.0.0.1.evil.example",
        "",
        "[",
        "a@127.0.0.1:x",
    ):
        answer = httpx.get(url + path, headers={"Host": host})
        assert answer.status_code in (400, 421), host
    answer = httpx.get(url + path, headers={"Host": "evil.example"})
    assert answer.text == (
        "This server is not called 'evil.example'; open it by its own name, or set ATTENTION_LAB_HOSTS."
    )
    for host in (f"127.0.0.1:{port(url)}", f"localhost:{port(url)}", "LOCALHOST", "[::1]:8501"):
        assert httpx.get(url + path, headers={"Host": host}).status_code in (200, 404), host


def test_a_websocket_of_another_site_is_refused(url: str) -> None:
    address = "ws" + url.removeprefix("http") + "/_stcore/stream"

    async def visit(origin: str | None, host: str | None = None) -> int:
        headers = {"Host": host} if host else {}
        try:
            async with connect(
                address, origin=origin and Origin(origin), additional_headers=headers,
                subprotocols=[Subprotocol("streamlit")],
            ):  # fmt: skip
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code

    for origin in (
        "http://evil.example",
        "http://localhost:1",
        "null",
        f"https://127.0.0.1.evil:{port(url)}",
    ):
        assert asyncio.run(visit(origin)) == 403, origin
    assert asyncio.run(visit(url)) == 101
    assert asyncio.run(visit(None)) == 101


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_says_what_a_browser_may_do(url: str, path: str) -> None:
    for answer in (httpx.get(url + path), httpx.get(url + path, headers={"Host": "evil.example"})):
        policy = answer.headers["Content-Security-Policy"]
        for part in (
            "default-src 'self'",
            "frame-ancestors 'self'",
            "object-src 'none'",
            "connect-src 'self'",
        ):
            assert part in policy
        assert "unsafe-eval" not in policy and "http" not in policy
        assert re.search(r"script-src 'self' blob: 'sha256-[^;]*;", policy)
        assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_what_streamlit_counts_of_all_visitors_is_nobodys(url: str) -> None:
    for path in ("metrics", "metrics/", "%6detrics", "agent/openapi.json", "script-health-check"):
        answer = httpx.get(f"{url}/_stcore/{path}")
        assert answer.status_code == 404 and "session" not in answer.text and "cache" not in answer.text, path
    for path in ("health", "host-config"):
        assert httpx.get(f"{url}/_stcore/{path}").status_code == 200


def test_a_small_answer_waits_for_no_acknowledgement(url: str) -> None:
    """With Nagle's algorithm the least would be 40 ms: an answer is sent as a head and a body."""
    with httpx.Client(base_url=url) as client:
        seconds = [client.get("/_stcore/health").elapsed.total_seconds() for _ in range(20)]
    assert min(seconds[5:]) < 0.03
