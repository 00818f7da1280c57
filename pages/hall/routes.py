"""What the browsers of a talk ask the server for: those that follow it, the lecturer's, and a clicker.

A hall tells who listens by server-sent events, each a JSON object in one line: {"whole": …} at first, then
{"change": …} with the fields that are others now (viz_core/viewer/talk/types.d.ts: `Heard`), {"press": …,
"number": …} for the show, and {"ended": true}. Whoever drives shows the hall's secret as a bearer's token,
which no address and no log has.
"""

import asyncio
import re
import signal
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from functools import cache, partial
from typing import Any

from cachetools import LRUCache
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute

from attention_lab.models.byte_units import KB, MB
from attention_lab.models.files import FileError
from attention_lab.pages.hall import store
from attention_lab.pages.hall.store import HALLS, Answer, Notes, Press, Seen, Shared
from attention_lab.pages.shared.code_rooms import Rate, Text, bearer_of, body_of, code_of, sent
from attention_lab.viz_core.viewer.message import MAX_BYTES, to_json

MOST_RECORD = 100 * KB
"""Of a record: its link may hold the longest text that Explore reads."""
MOST_NOTES = 500 * KB
MOST_MESSAGE = MAX_BYTES + 1_000 * KB
"""Of a picture: its arrays, and a header."""
LOOK_SECONDS = 0.05
COMMENT_SECONDS = 15.0
"""So often a silent connection is told something: proxies end one that is not."""
MOST_WAITING = 50
"""Events that wait for a slow connection; then it is told the whole, as it is by then."""
COUNT_SECONDS = 1.0
"""So often, at most, it is told how many follow."""
VOTING = Rate(200, 10.0)
"""Of each address; a browser tries again, so 500 in one lecture hall have answered after half a minute."""
HELD_MB = 32
"""Pictures in memory, packed: all that follow ask for the same ones, and at once."""

_FILE = re.compile("[0-9a-f]{16,64}")

# Listeners


class Listener(asyncio.Queue[bytes]):
    """An open connection, with the events that it has to be told. drives: whether it has shown the secret."""

    def __init__(self, drives: bool) -> None:
        super().__init__(MOST_WAITING)
        self.drives = drives

    def tell(self, event: bytes, whole: Callable[[], bytes]) -> None:
        if self.full():
            while not self.empty():
                self.get_nowait()
            event = whole()
        self.put_nowait(event)


class Hall:
    """A hall with listeners, as it was seen last."""

    def __init__(self, code: str, seen: Seen) -> None:
        self.code, self.seen = code, seen
        self.listeners: set[Listener] = set()

    @property
    def following(self) -> int:
        return sum(not listener.drives for listener in self.listeners)

    def whole(self, drives: bool) -> bytes:
        return _event(whole=_told(self.seen, drives))

    def update(self, seen: Seen) -> None:
        """Tells everybody what has changed."""
        before, self.seen = self.seen, seen
        for drives in (False, True):
            old, new = _told(before, drives), _told(seen, drives)
            change = {name: value for name, value in new.items() if old.get(name, self) != value}
            events = _event(change=change) if change else b""
            if drives:
                events += b"".join(map(_pressed, seen.presses))
            whole = cache(partial(self.whole, drives))
            for listener in self.listeners if events else ():
                if listener.drives is drives:
                    listener.tell(events, whole)


def _told(seen: Seen, drives: bool) -> dict[str, Any]:
    """What a listener knows of a hall."""
    asked = seen.record["asked"]
    counts = seen.counts if drives or (asked and asked["uncovered"]) else None
    own = {"notes": seen.notes, "following": seen.following} if drives else {"notes": None}
    return seen.record | {"counts": counts, **own}


def _event(**values: Any) -> bytes:
    return b"data: " + to_json(values) + b"\n\n"


def _pressed(numbered: tuple[int, dict[str, Any]]) -> bytes:
    return _event(press=numbered[1], number=numbered[0])


class Watch:
    """Looks for what other processes and this one have written, while anybody listens here."""

    def __init__(self) -> None:
        self.halls: dict[str, Hall] = {}
        self.pictures: LRUCache[tuple[str, str], bytes] = LRUCache(HELD_MB * MB, getsizeof=len)
        self.task: asyncio.Task[None] | None = None

    async def events(self, code: str, seen: Seen, listener: Listener) -> AsyncIterator[bytes]:
        """For one connection, until the hall or the server ends. seen: just now."""
        hall = self.halls.setdefault(code, Hall(code, seen))
        hall.listeners.add(listener)
        if self.task is None:
            self.task = asyncio.create_task(self._look())
        try:
            missed = [pressed for pressed in seen.presses if pressed[0] <= hall.seen.last]
            yield hall.whole(listener.drives) + b"".join(map(_pressed, missed))
            while self.halls.get(code) is hall or not listener.empty():
                try:
                    async with asyncio.timeout(COMMENT_SECONDS):
                        events = await listener.get()
                except TimeoutError:
                    events = b":\n\n"
                if events:
                    yield events
        finally:
            hall.listeners.discard(listener)

    async def _look(self) -> None:
        db, version, since_counted = None, -1, 0.0
        counted: dict[str, int] = {}
        try:
            while self.halls or counted:
                await asyncio.sleep(LOOK_SECONDS)
                for hall in list(self.halls.values()):
                    if not hall.listeners or _server_ends():
                        self._drop(hall, b"")
                try:
                    if (since_counted := since_counted + LOOK_SECONDS) > COUNT_SECONDS:
                        since_counted = 0.0
                        now = {code: hall.following for code, hall in self.halls.items()}
                        if now != counted:
                            await run_in_threadpool(store.count_followers, now)
                            counted = now
                    db = db or HALLS.connected()
                    before, version = version, db.execute("PRAGMA data_version").fetchone()[0]
                    if version == before:
                        continue
                    db.execute("BEGIN")  # all of it as it was at one moment
                    for hall in list(self.halls.values()):
                        seen = store.look(db, hall.code, hall.seen.last)
                        if seen is None:
                            self._drop(hall, _event(ended=True))
                        else:
                            hall.update(seen)
                    db.execute("COMMIT")
                except (sqlite3.Error, FileError):  # the disk is full, or the file gone: look again
                    db = None
        finally:
            self.task = None
            if db:
                db.close()

    def _drop(self, hall: Hall, last: bytes) -> None:
        """Ends all connections to a hall, with a last event."""
        del self.halls[hall.code]
        for listener in hall.listeners:
            listener.tell(last, lambda: last)


def _server_ends() -> bool:
    """Whether the server was asked to end: it waits for all connections, and these would last."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return bool(getattr(server, "should_exit", False))


# Routes


def hall_routes() -> list[BaseRoute]:
    """The routes that `st.App` has to serve beside Streamlit's own."""
    watch = Watch()
    here, picture = "/hall/{code}", "/hall/{code}/pictures/{file}"
    threading.Thread(target=HALLS.expire_ever, daemon=True).start()
    return [
        HALLS.asks("POST", "/hall/", store.open_hall, Shared, MOST_RECORD),
        HALLS.asks("PUT", here, store.tell, Shared, MOST_RECORD),
        HALLS.asks("DELETE", here, HALLS.close),
        HALLS.route("GET", f"{here}/events", partial(_events, watch)),
        HALLS.asks("PUT", f"{here}/notes", store.tell_notes, Notes, MOST_NOTES),
        HALLS.asks("POST", f"{here}/press", store.press, Press),
        HALLS.asks("POST", f"{here}/answers", store.answer, Answer, rate=VOTING),
        HALLS.asks("DELETE", f"{here}/answers", store.clear),
        HALLS.asks("GET", f"{here}/answers.csv", store.table),
        HALLS.asks("POST", f"{here}/code", HALLS.drawn_code, Text),
        HALLS.route("PUT", picture, _keep),
        HALLS.route("GET", picture, partial(_picture, watch)),
    ]


async def _events(watch: Watch, request: Request) -> Response:
    code, secret = code_of(request), bearer_of(request)
    last = request.headers.get("last-event-id", "")
    after = int(last) if last.isdecimal() and len(last) < 16 else 10**15  # one that comes anew missed nothing
    seen = await run_in_threadpool(store.seen_by, code, secret, after)
    most = store.MOST_LISTENERS
    if code in watch.halls and len(watch.halls[code].listeners) >= most:
        raise HTTPException(429, f"{most:,} windows follow this talk, and no more can; look at another's.")
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    events = watch.events(code, seen, Listener(drives=bool(secret)))
    return StreamingResponse(events, headers=headers, media_type="text/event-stream")


async def _keep(request: Request) -> Response:
    file, shown = str(request.path_params["file"]), (code_of(request), bearer_of(request))
    if not _FILE.fullmatch(file):
        raise HTTPException(400, f"{file[:20]!r} names no picture; give 16 to 64 of 0 to 9 and a to f.")
    await run_in_threadpool(HALLS.admit, *shown)
    await run_in_threadpool(store.keep, *shown, file, await body_of(request, MOST_MESSAGE))
    return sent(None)


async def _picture(watch: Watch, request: Request) -> Response:
    place = code_of(request), str(request.path_params["file"])
    packed = watch.pictures.get(place) if place[0] in watch.halls else None
    if packed is None:
        packed = watch.pictures[place] = await run_in_threadpool(store.picture, *place)
    headers = {"Content-Encoding": "gzip", "Cache-Control": "private, max-age=86400, immutable"}
    return Response(packed, headers=headers, media_type="application/octet-stream")
