"""Uploads in progress: accepted from visitors whose page asks for a file, as long as there is memory.

Streamlit keeps what a browser sends in memory until the visitor has gone, whatever page they are on.
"""

from __future__ import annotations

import re
from collections import Counter

from cachetools import LRUCache
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from models.byte_units import MB, readable
from models.limits import in_force
from pages.shared import memory, widget_internals

MOST_OF_A_VISITOR = 2 * in_force().upload_mb * MB
"""Bytes in memory: a page asks for two files at most, pictures and their labels."""
MOST_IN_ALL = 4 * in_force().upload_mb * MB
_ROOM = 1 << 20
"""The bytes that a request has beside the file in it."""
_ADDRESS = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/[^/]+$")

_asking: LRUCache[str, bool] = LRUCache(10_000)
_coming: Counter[str] = Counter()


def expect() -> None:
    """Notes that this visitor's page asks for a file."""
    session = widget_internals.session_id()
    if session:
        _asking[session] = True


def expect_none() -> None:
    """Notes that this visitor has come to a page that asks for none."""
    _asking.pop(widget_internals.session_id(), None)


class Uploading:
    """ASGI middleware around Streamlit's address for files."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _ADDRESS.search(scope["path"]) if scope["type"] == "http" else None
        if found is None or scope["method"] != "PUT":
            await self._app(scope, receive, send)
            return
        session, coming = found["session"], _length(Headers(scope=scope))
        refused = refusal(session, coming)
        if refused is not None:
            await PlainTextResponse(refused[1], refused[0])(scope, receive, send)
            return
        _coming[session] += coming
        try:
            await self._app(scope, receive, send)
        finally:
            _coming[session] -= coming
            if not _coming[session]:
                del _coming[session]


def refusal(session: str, coming: int) -> tuple[int, str] | None:
    """The status and the sentence that refuse a file of so many bytes; None where it is accepted."""
    if session not in _asking:
        return 403, "This page asks for no file; hand it in on Train, or attention on Explore."
    try:
        memory.check()
    except ValueError as error:
        return 503, str(error)
    held = Counter(widget_internals.uploaded_bytes()) + _coming
    for said, now, most in (
        ("yours", held[session], MOST_OF_A_VISITOR),
        ("all visitors'", held.total(), MOST_IN_ALL),
    ):
        if now + coming > most + _ROOM:
            return 413, (
                f"{readable(coming)} are too much beside {said} of {readable(now)}: at most "
                f"{readable(most)} are held at once; remove a file, or try again later."
            )
    return None


def _length(headers: Headers) -> int:
    """The bytes that a request says it has; if it does not say, the most that one may have."""
    said = headers.get("content-length", "")
    return int(said) if said.isdecimal() and len(said) < 20 else in_force().upload_mb * MB
