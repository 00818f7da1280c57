"""Uploads in progress: accepted from visitors whose page asks for a file, as long as there is memory.

Streamlit keeps in memory what a browser sends. A page takes it from there at once, so it is forgotten after a
while, when the visitor goes to another page, and when their connection is lost. What is counted is what has
come, not what a request says will come: who sends nothing takes nobody's place.
"""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import streamlit as st
from cachetools import LRUCache
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import Runtime
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile

from attention_lab.models.byte_units import KB, MB, readable
from attention_lab.models.limits import in_force
from attention_lab.pages.shared import server_load, streamlit_internals, visitors

MOST_OF_A_VISITOR = 2 * in_force().upload_mb * MB
"""Bytes in memory: a page asks for two files at most, pictures and their labels."""
MOST_IN_ALL = 4 * in_force().upload_mb * MB
PATIENCE_SECONDS = 15.0
"""A request that brings nothing for so long is ended."""
LEAST_A_SECOND = 100 * KB
"""A request that brings less is ended, too, once it has wasted `PATIENCE_SECONDS`."""
HELD_SECONDS = 120.0
"""A file that no page has taken by then is forgotten, when the next one comes."""
_ROOM = 1 << 20
"""The bytes that a request has beside the file in it."""
_ADDRESS = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)$")

Refusal = Callable[[int], tuple[int, str] | None]

_asking: LRUCache[str, str] = LRUCache(10_000)
"""The visitor of each session whose page asks for a file."""
_coming: Counter[str] = Counter()
_held: dict[tuple[str, str], tuple[float, int]] = {}
"""Since when each file of a session is in memory, and its bytes with those that its request has beside it."""


def expect() -> None:
    """Notes that this visitor's page asks for a file."""
    session = streamlit_internals.session_id()
    if session:
        _asking[session] = visitors.visitor().id


def expect_none() -> None:
    """Notes that this visitor has come to a page that asks for none."""
    session = streamlit_internals.session_id()
    if _asking.pop(session, None) is not None:
        for owner, file in list(_held):
            if owner == session:
                _forget(session, file)


def handed_in(key: str) -> UploadedFile | None:
    """The file in the field of this key. Raises ValueError where it is no longer in memory."""
    file = st.session_state.get(key)
    if isinstance(file, DeletedFile):
        raise ValueError("the file is no longer here; choose it again")
    return file


class RefusedError(OSError):
    """Ends a request while its body comes; Starlette drops what came at an OSError. args: as of `refusal`."""


class Uploading:
    """ASGI middleware around Streamlit's address for files."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = _ADDRESS.search(scope["path"]) if scope["type"] == "http" else None
        if address is None or scope["method"] != "PUT":
            if address is not None and scope["method"] == "DELETE":
                _held.pop((address["session"], address["file"]), None)
            await self._app(scope, receive, send)
            return
        refused = refusal(address["session"], _length(Headers(scope=scope)))
        if refused is None:
            session = address["session"]
            try:
                with Body(_asking.get(session, ""), receive, partial(refusal, session)) as body:
                    await self._app(scope, body.receive, send)
                    _held[session, address["file"]] = time.monotonic(), body.n_bytes
                return
            except RefusedError as error:
                refused = error.args
        await PlainTextResponse(refused[1], refused[0])(scope, receive, send)


class Body:
    """A request's body as it comes, with what has come of it, which counts in a `with` block. visitor: who
    sends it, or their address. refusal: of so many more bytes.
    """

    def __init__(self, visitor: str, receive: Receive, refusal: Refusal | None = None) -> None:
        self.visitor, self.n_bytes, self._refusal = visitor, 0, refusal or partial(_too_much, visitor)
        self._receive, self._began, self._is_whole = receive, time.monotonic(), False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _coming[self.visitor] -= self.n_bytes
        if not _coming[self.visitor]:
            del _coming[self.visitor]

    async def receive(self) -> Message:
        """The next part. Raises RefusedError where it is too late, or too much beside what others sent."""
        if self._is_whole:
            return await self._receive()
        seconds_left = PATIENCE_SECONDS + self.n_bytes / LEAST_A_SECOND - (time.monotonic() - self._began)
        try:
            async with asyncio.timeout(max(0.0, min(seconds_left, PATIENCE_SECONDS))):
                message = await self._receive()
        except TimeoutError:
            raise RefusedError(
                408,
                f"Too slow: {readable(self.n_bytes)} in {time.monotonic() - self._began:.0f} seconds, under "
                f"{readable(LEAST_A_SECOND)} a second; try a faster network, or send less.",
            ) from None
        n_bytes = len(message.get("body", b""))
        refused = self._refusal(n_bytes)
        if refused is not None:
            raise RefusedError(*refused)
        _coming[self.visitor] += n_bytes
        self.n_bytes += n_bytes
        self._is_whole = not message.get("more_body", False)
        return message


def refusal(session: str, coming: int) -> tuple[int, str] | None:
    """The status and the sentence that refuse so many more bytes of a file; None where they are accepted."""
    if session not in _asking:
        return 403, "This page takes no file; hand it in on Train or Explore."
    try:
        server_load.check_memory()
    except ValueError as error:
        return 503, str(error)
    now = time.monotonic()
    for (other, file), (since, _) in list(_held.items()):  # without a connection, or not taken in time
        is_here = not Runtime.exists() or Runtime.instance().is_active_session(other)
        if not is_here or now - since >= HELD_SECONDS:
            _forget(other, file)
    return _too_much(_asking[session], coming)


def _too_much(visitor: str, coming: int) -> tuple[int, str] | None:
    n_held = _coming.copy()
    for (other, _), (_, n_bytes) in list(_held.items()):
        n_held[_asking.get(other, "")] += n_bytes
    of_all = ("all visitors'", n_held.total(), MOST_IN_ALL)
    for whose, n_bytes, most in (("yours", n_held[visitor], MOST_OF_A_VISITOR), of_all):
        if n_bytes + coming > most + _ROOM:
            return 413, (
                f"{readable(coming)} do not fit beside {whose} of {readable(n_bytes)}, with {readable(most)} "
                "in all; remove a file, or try again in two minutes."
            )
    return None


def _forget(session: str, file: str) -> None:
    _held.pop((session, file), None)
    if Runtime.exists():
        manager: Any = Runtime.instance().uploaded_file_mgr  # one in memory, which can do more than all can
        manager.remove_file(session, file)


def _length(headers: Headers) -> int:
    """The bytes that a request says it has; if it does not say, the most that one may have."""
    declared = headers.get("content-length", "")
    return int(declared) if declared.isdecimal() and len(declared) < 20 else in_force().upload_mb * MB
