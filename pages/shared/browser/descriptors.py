"""The descriptors of sockets and files that visitors hold open, beside those that this process may have.

A page holds `EACH`: its connection, and three of the event loop that Streamlit makes for its scripts. The
latter stay when its visitor leaves, who may come back; they are closed after a while, or as soon as another
visitor has no room. Who still has none is told so, while there are descriptors left to tell it by.
"""

import asyncio
import math
import sys
import time

import psutil
import streamlit as st
from streamlit.runtime import Runtime

from attention_lab.pages.shared import streamlit_internals

WANTED = 10_240
"""The descriptors that are asked for: as many as any macOS gives."""
EACH = 4
FOR_PAGES, FOR_CONNECTIONS = 3 / 4, 7 / 8
"""The share of all up to which a page is sent, and a connection begun: whoever has a page has a connection.
The rest is for files, and for what browsers fetch beside.
"""
RETRY_SECONDS = 10

_left: dict[str, float] = {}
"""When the visitor of each session was seen to be gone, by time.monotonic; infinite while they are there."""


def allowed() -> int:
    """The descriptors that this process may have, once it has asked for `WANTED`."""
    if sys.platform == "win32":
        return WANTED
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if resource.RLIM_INFINITY != soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(soft, most)


def places() -> int:
    """The visitors for whom there is room."""
    return int(allowed() * FOR_PAGES / EACH)


def here() -> None:
    """Notes that the visitor of this run of a page is there."""
    _left[streamlit_internals.session_id()] = math.inf


def close_left() -> None:
    """To be called when a connection ends: closes, later, the sessions of those who do not come back."""
    # Before Streamlit, which then only forgets it until another visitor leaves.
    held_seconds = 0.75 * float(st.get_option("server.disconnectedSessionTTL"))
    _close(held_seconds)
    asyncio.get_running_loop().call_later(1.1 * held_seconds, _close, held_seconds)


def _close(left_seconds: float) -> None:
    """Closes the sessions whose visitors left so long ago. To be called by the event loop."""
    now, runtime = time.monotonic(), Runtime.instance()
    for session, since in list(_left.items()):
        _left[session] = math.inf if runtime.is_active_session(session) else min(since, now)
        if _left[session] + left_seconds <= now:
            del _left[session]
            runtime.close_session(session)


def refusal(share: float) -> tuple[int, str] | None:
    """The status and the sentence for who comes while more than this share is in use; None for others."""
    count = getattr(psutil.Process(), "num_fds", int)  # Windows counts none
    most = share * allowed() - EACH
    if count() > most:
        _close(0)
    if count() <= most:
        return None
    return 429, (
        f"This server has room for {places()} visitors; this page tries again every {RETRY_SECONDS} seconds."
    )
