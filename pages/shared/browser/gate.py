"""The check of every request and of every answer: by which names and addresses this server may be asked, what
a browser may do with its pages, and that no visitor of a class is told where things lie on the server.

A page of any other site can reach a server on 127.0.0.1 through the browser of the person who runs it: by a
name of that site that resolves to this address (DNS rebinding), or directly. So there the server answers only
to its own names; and everywhere it refuses messages that another site's page sends.
"""

import base64
import hashlib
import os
import re
from collections.abc import Iterable
from functools import cache

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shared import visitors
from pages.shared.browser import document
from pages.shared.places import message_without_places

HOSTS = "ATTENTION_LAB_HOSTS"
"""The environment variable with the names, with commas between, by which this server is reached: that of a
proxy before it, for one. Without it, a server for one person answers to 127.0.0.1 and to localhost, and that
of a class, where another site's page would be a visitor like any other, to all names.
"""
_STREAMLITS = "/_stcore"
_NEEDED = re.compile(r"/_stcore/(?:health|host-config|stream|upload_file/.*|bidi-components/.*)")
"""What a page asks of Streamlit. Its other addresses tell of all visitors (metrics), or drive the app."""
_HOST = re.compile(r"(?:(?P<name>[^\s:/@\[\]]+)|\[(?P<number>[0-9a-f:.]+)\])(?::[0-9]+)?", re.IGNORECASE)
_OWN = frozenset(("localhost", "127.0.0.1", "::1"))
_READING = frozenset(("GET", "HEAD", "OPTIONS"))
_OTHERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "SAMEORIGIN",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Gate:
    """ASGI middleware around all of the app."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(answer_headers())
            elif message["type"] == "websocket.send" and message.get("bytes"):
                message = {**message, "bytes": message_without_places(message["bytes"])}
            await send(message)

        refused = refusal(scope)
        if refused is None:
            await self._app(scope, receive, guarded)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": refused[1]})
        else:
            await PlainTextResponse(refused[1], refused[0])(scope, receive, guarded)


def refusal(scope: Scope) -> tuple[int, str] | None:
    """The status and the sentence with which a request is refused; None where it may pass."""
    if scope["path"].startswith(_STREAMLITS) and not _NEEDED.fullmatch(scope["path"]):
        return 404, "This server does not answer at that address; open one of its pages."
    headers, named = Headers(scope=scope), _named()
    host, origin = headers.get("host", ""), headers.get("origin")
    netloc = (origin or "").partition("//")[2]
    if named is not None and _name(host) not in named:
        said = f"This server is not called {_name(host)[:80]!r}; open it by its own name, or set {HOSTS}."
        return 421, said
    writes = scope["type"] == "websocket" or scope["method"] not in _READING
    if writes and origin is not None and netloc != host and _name(netloc) not in _given():
        return 403, f"A page of {origin[:80]!r} may not ask this server; open this server's own page."
    return None


@cache
def _given() -> frozenset[str]:
    return frozenset(name.strip().lower() for name in os.environ.get(HOSTS, "").split(",") if name.strip())


@cache
def _named() -> frozenset[str] | None:
    """The names that this server answers to; None for all."""
    if not visitors.is_class():
        return _OWN | _given() | {_name(st.get_option("server.address") or "")}
    return _given() or None


def _name(host: str) -> str:
    """The name in a Host header, or an address of this machine, without its port; "" where it holds none."""
    found = _HOST.fullmatch(host)
    return (found["name"] or found["number"]).lower().rstrip(".") if found else ""


@cache
def answer_headers() -> dict[str, str]:
    """The headers of every answer."""
    return {"Content-Security-Policy": _policy(document.inline_scripts()), **_OTHERS}


def _policy(scripts: Iterable[str]) -> str:
    """The Content-Security-Policy: everything comes from here, and no other site may embed a page.

    Streamlit makes modules of our components' code, and styles while a page is open.
    """
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    known = " ".join(f"'sha256-{digest}'" for digest in digests)
    return re.sub(
        r"\s+",
        " ",
        f"""default-src 'self'; script-src 'self' blob: {known}; style-src 'self' 'unsafe-inline';
        img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' blob:; worker-src 'self' blob:;
        connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'""",
    )
