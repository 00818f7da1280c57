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
from collections.abc import AsyncIterator, Callable
from functools import cache, partial
from typing import Annotated, Any

from cachetools import LRUCache
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from attention_lab.models.byte_units import KB, MB
from attention_lab.models.files import FileError
from attention_lab.models.limits import in_force
from attention_lab.pages.hall import store
from attention_lab.pages.hall.store import Seen
from attention_lab.pages.shared.browser.requests import adding_to
from attention_lab.pages.shared.rooms import (
    Handler,
    RefusedError,
    bearer_of,
    body_of,
    code_of,
    done,
    drawn_code,
    opener_of,
    parsed,
    refusing,
    sent_table,
)
from attention_lab.viz_core.viewer.message import MAX_BYTES, to_json
from attention_lab.viz_core.viewer.talk.documents import hall_pages

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
EXPIRE_SECONDS = 600.0
HELD_MB = 32
"""Pictures in memory, packed: all that follow ask for the same ones, and at once."""

_FILE = re.compile("[0-9a-f]{16,64}")
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\w .:-]+$")]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class Asked(_Strict):
    id: Name
    ask: str
    options: list[str] = Field(max_length=20)
    uncovered: bool
    right: int | None


class Shared(_Strict):
    """As far as the server reads it; the rest is for browsers."""

    title: str
    asked: Asked | None


class Notes(BaseModel):
    notes: list[str] | None


class Press(_Strict):
    type: str
    from_: Name = Field(alias="from")


class Answer(BaseModel):
    question: Name
    option: int
    who: Name


# Who listens, in this process.


class Listener:
    """An open connection. drives: whether it has shown the secret."""

    def __init__(self, drives: bool) -> None:
        self.drives = drives
        self.waiting: list[bytes] = []
        self.woken = asyncio.Event()

    def tell(self, events: list[bytes], whole: Callable[[], bytes]) -> None:
        self.waiting += events
        if len(self.waiting) > MOST_WAITING:
            self.waiting = [whole()]
        self.woken.set()


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

    def update(self, seen: Seen | None) -> None:
        """Tells everybody what has changed."""
        before = self.seen
        self.seen = seen or before
        for drives in (False, True):
            if seen is None:
                events = [_event(ended=True)]
            else:
                old, new = _told(before, drives), _told(seen, drives)
                change = {name: value for name, value in new.items() if old.get(name, self) != value}
                events = [_event(change=change)] if change else []
                if drives:
                    events += map(_pressed, seen.presses)
            whole = cache(partial(self.whole, drives)) if seen else lambda: _event(ended=True)
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
            while self.halls.get(code) is hall or listener.waiting:
                try:
                    async with asyncio.timeout(COMMENT_SECONDS):
                        await listener.woken.wait()
                except TimeoutError:
                    yield b":\n\n"
                    continue
                listener.woken.clear()
                events, listener.waiting = b"".join(listener.waiting), []
                if events:
                    yield events
        finally:
            hall.listeners.discard(listener)

    async def _look(self) -> None:
        db, version, since_expired, since_counted = None, -1, 0.0, 0.0
        counted: dict[str, int] = {}
        try:
            while self.halls or counted:
                await asyncio.sleep(LOOK_SECONDS)
                for hall in list(self.halls.values()):
                    if not hall.listeners or _server_ends():
                        self._drop(hall)
                try:
                    if (since_expired := since_expired + LOOK_SECONDS) > EXPIRE_SECONDS:
                        since_expired = 0.0
                        await run_in_threadpool(store.expire)
                    if (since_counted := since_counted + LOOK_SECONDS) > COUNT_SECONDS:
                        since_counted = 0.0
                        now = {code: hall.following for code, hall in self.halls.items() if hall.following}
                        if now != counted:
                            await run_in_threadpool(store.count_followers, now)
                            counted = now
                    db = db or store.HALLS.connected()
                    before, version = version, db.execute("PRAGMA data_version").fetchone()[0]
                    if version == before:
                        continue
                    for hall in list(self.halls.values()):
                        seen = store.look(db, hall.code, hall.seen.last)
                        hall.update(seen)
                        if seen is None:
                            self._drop(hall)
                except (sqlite3.Error, FileError):  # the disk is full, or the file gone: look again
                    db = None
        finally:
            self.task = None
            if db:
                db.close()

    def _drop(self, hall: Hall) -> None:
        del self.halls[hall.code]
        for listener in hall.listeners:
            listener.woken.set()


def _server_ends() -> bool:
    """Whether the server was asked to end: it waits for all connections, and these would last."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return bool(getattr(server, "should_exit", False))


# What is asked for.


def hall_routes() -> list[BaseRoute]:
    """The routes that `st.App` has to serve beside Streamlit's own."""
    watch = Watch()
    here, picture = "/hall/{code}", "/hall/{code}/pictures/{file}"
    routes: list[tuple[str, str, Handler]] = [
        ("/hall/", "POST", _open),
        (here, "PUT", _tell),
        (here, "DELETE", _end),
        (f"{here}/events", "GET", partial(_events, watch)),
        (f"{here}/notes", "PUT", _tell_notes),
        (f"{here}/press", "POST", _press),
        (f"{here}/answers", "POST", _answer),
        (f"{here}/answers.csv", "GET", _table),
        (f"{here}/code", "POST", _drawn_code),
        (picture, "PUT", _keep),
        (picture, "GET", partial(_picture, watch)),
    ]
    made = [Route(path, refusing(handler, "The hall"), methods=[method]) for path, method, handler in routes]
    programs: list[BaseRoute] = []
    documents = hall_pages(adding_to(programs)).items()
    made += [Route(f"{here}{address}", partial(_document, html=html)) for address, html in documents]
    return [*made, *programs]


def _document(_request: Request, html: str) -> Response:
    return HTMLResponse(html, headers={"Cache-Control": "no-cache"})


async def _open(request: Request) -> Response:
    record = await parsed(request, Shared, MOST_RECORD)
    opener = opener_of(request, "a hall")
    code, secret = await run_in_threadpool(store.open_hall, opener, record.model_dump())
    return JSONResponse({"code": code, "secret": secret})


async def _tell(request: Request) -> Response:
    record = await parsed(request, Shared, MOST_RECORD)
    await run_in_threadpool(store.tell, code_of(request), bearer_of(request), record.model_dump())
    return done()


async def _tell_notes(request: Request) -> Response:
    told = await parsed(request, Notes, MOST_NOTES)
    await run_in_threadpool(store.tell_notes, code_of(request), bearer_of(request), told.notes or [])
    return done()


async def _end(request: Request) -> Response:
    await run_in_threadpool(store.HALLS.close, code_of(request), bearer_of(request))
    return done()


async def _events(watch: Watch, request: Request) -> Response:
    code, secret = code_of(request), bearer_of(request)
    last = request.headers.get("last-event-id", "")
    after = int(last) if last.isdecimal() and len(last) < 16 else 10**15  # one that comes anew missed nothing
    seen = await run_in_threadpool(store.seen_by, code, secret, after)
    most = in_force().hall_listeners
    if code in watch.halls and len(watch.halls[code].listeners) >= most:
        raise RefusedError(429, f"{most:,} windows follow this talk, and no more can; look at another's.")
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    events = watch.events(code, seen, Listener(drives=bool(secret)))
    return StreamingResponse(events, headers=headers, media_type="text/event-stream")


async def _press(request: Request) -> Response:
    pressed = await parsed(request, Press)
    values = pressed.model_dump(by_alias=True)
    await run_in_threadpool(store.press, code_of(request), bearer_of(request), values)
    return done()


async def _answer(request: Request) -> Response:
    given = await parsed(request, Answer)
    await run_in_threadpool(store.answer, code_of(request), given.question, given.who, given.option)
    return done()


async def _table(request: Request) -> Response:
    table = await run_in_threadpool(store.table, code_of(request), bearer_of(request))
    return sent_table(table)


async def _drawn_code(request: Request) -> Response:
    await run_in_threadpool(store.check, code_of(request), bearer_of(request))
    return await drawn_code(request)


async def _keep(request: Request) -> Response:
    content = await body_of(request, MOST_MESSAGE)
    file = str(request.path_params["file"])
    if not _FILE.fullmatch(file):
        raise RefusedError(400, f"{file[:20]!r} names no picture; 16 to 64 of 0 to 9 and a to f do.")
    await run_in_threadpool(store.keep, code_of(request), bearer_of(request), file, content)
    return done()


async def _picture(watch: Watch, request: Request) -> Response:
    place = code_of(request), str(request.path_params["file"])
    packed = watch.pictures.get(place) if place[0] in watch.halls else None
    if packed is None:
        packed = watch.pictures[place] = await run_in_threadpool(store.picture, *place)
    headers = {"Content-Encoding": "gzip", "Cache-Control": "private, max-age=86400, immutable"}
    return Response(packed, headers=headers, media_type="application/octet-stream")
