"""What a hall and a class are alike: a code that people type, a secret for whoever opened it, one SQLite file
for all processes of a server, and a sentence for whatever is refused.

A person at any process finds the same, and a process that is killed loses nothing.
"""

import hashlib
import hmac
import secrets
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import segno
from cachetools import LRUCache
from pydantic import BaseModel, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from attention_lab.models.byte_units import KB, readable
from attention_lab.models.files import FileError, writing
from attention_lab.models.runs.owners import Visitor
from attention_lab.models.runs.processes import boot, uptime
from attention_lab.models.zoo.folders import runs_root
from attention_lab.pages.shared import teachers, visitors
from attention_lab.pages.shared.browser import uploading

PATIENCE_SECONDS = 5.0
"""So long a process waits for another that writes."""
LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
"""Those of codes: none looks like another."""
CODE_LENGTH = 5
VERSION = 4
"""Of the tables: one that a file does not have yet is made when it is opened."""
MOST_BODY = 10 * KB
MOST_PLACE = 60
"""Letters of a name that nobody declared, in the sentence that refuses it."""
EXPIRE_SECONDS = 600.0
UNUSED_SECONDS = 3_600.0
"""So long a room is kept that nobody uses."""
_UNWRITABLE = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_ENDING = """
CREATE TABLE IF NOT EXISTS clock (boot TEXT, up REAL, seconds REAL);
INSERT INTO clock SELECT '', 0, 0 WHERE NOT EXISTS (SELECT 1 FROM clock);
CREATE TABLE IF NOT EXISTS ending (
    code TEXT REFERENCES {table} ON DELETE CASCADE, why INTEGER, since REAL, PRIMARY KEY (code, why)
)
"""
"""A clock that counts while the machine runs, whatever its time is set to; and since when a room may end."""
Body = TypeVar("Body", bound=BaseModel)


class Rate:
    """How often something is taken from each address, by one process: so many at once, and so many a second
    from then on. A class room, and many a school, is one address.
    """

    def __init__(self, at_once: int, a_second: float) -> None:
        self.at_once, self.a_second = at_once, a_second
        self._left: LRUCache[str, tuple[float, float]] = LRUCache(10_000)

    def left(self, who: str) -> float:
        left, since = self._left.get(who, (self.at_once, 0.0))
        return min(self.at_once, left + self.a_second * (time.monotonic() - since))

    def take(self, who: str, n: int = 1) -> bool:
        """Whether so many are left, which are then taken. who: "" for whoever is not counted."""
        left = self.left(who)
        if who and left >= n:
            self._left[who] = left - n, time.monotonic()
        return not who or left >= n


OPENINGS = Rate(10, 10 / 3_600)
MISSES = Rate(200, 0.5)
"""Codes that lead nowhere: all who still follow a talk that has ended may ask for it once more."""
_known: LRUCache[tuple[str, str], bool] = LRUCache(10_000)
"""The codes that an address has used: whoever guesses others shuts nobody out of these."""
KINDS: list["Rooms"] = []


class GoneError(HTTPException):
    """A code leads to no room."""


class Text(BaseModel):
    text: str = Field(min_length=1, max_length=1_000)


@dataclass(frozen=True)
class Rooms:
    """The rooms of one kind. table: of them, with the columns code, secret, opener and opened, and the name
    of their file. schema: SQL, with all other tables. ends: SQL of codes, and seconds after which a room is
    deleted that was among them at each look. title, users: SQL of what a room is about, and who uses it.
    a_room, the_room: as sentences name one. gone_words: said where the {code} leads to none; foreign_words:
    said to whoever does not show the secret.
    """

    table: str
    schema: str
    ends: Callable[[sqlite3.Connection], list[tuple[str, float]]]
    title: str
    users: str
    a_room: str
    the_room: str
    gone_words: str
    foreign_words: str

    def __post_init__(self) -> None:
        KINDS.append(self)

    @property
    def file(self) -> Path:
        return runs_root() / f".{self.table}" / f"{self.table}.sqlite"

    def connected(self, *, to_read: bool = False) -> sqlite3.Connection:
        """The file, made where there is none. Raises sqlite3.Error, and WriteError where none can be made.
        to_read: also on a disk that is full.
        """
        if not self.file.exists():
            with writing(self.file):
                self.file.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self.file, timeout=PATIENCE_SECONDS, isolation_level=None)
        try:
            if first(db, "PRAGMA user_version") < VERSION:
                db.executescript(
                    "PRAGMA auto_vacuum = FULL; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE;"
                    f"{self.schema};{_ENDING.format(table=self.table)};"
                    f"PRAGMA user_version = {VERSION}; COMMIT"
                )
        except sqlite3.OperationalError as error:  # no file can be made in which readers and writers meet
            db.close()
            if not to_read or error.sqlite_errorcode & 0xFF not in _UNWRITABLE:
                raise
            db = sqlite3.connect(f"{self.file.as_uri()}?immutable=1", uri=True, isolation_level=None)
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA secure_delete = ON")
        db.execute("PRAGMA synchronous = NORMAL")  # after a power cut a room may be a moment behind
        return db

    @contextmanager
    def reading(self, *shown: str, begin: str = "BEGIN") -> Iterator[sqlite3.Connection]:
        """All that is read is as it was at one moment. shown: a code and a secret, which is checked."""
        with closing(self.connected(to_read=begin == "BEGIN")) as db:
            db.execute(begin)
            if shown:
                self.check(db, *shown)
            yield db
            db.execute("COMMIT")

    def writing(self, *shown: str) -> AbstractContextManager[sqlite3.Connection]:
        """All that is written inside is written, or nothing. shown: as `reading` checks it."""
        return self.reading(*shown, begin="BEGIN IMMEDIATE")

    def gone(self, code: str) -> HTTPException:
        return GoneError(404, self.gone_words.format(code=repr(code[:20])))

    def open(self, db: sqlite3.Connection, opener: str, most: int, **values: Any) -> dict[str, str]:
        """The code and the secret of a new room with these values, where there are fewer than `most`."""
        known = {code for (code,) in db.execute(f"SELECT code FROM {self.table}")}
        if len(known) >= most:
            raise HTTPException(
                429,
                f"{len(known)} {self.table} are open, the most there may be; try again later, or "
                "ask a teacher to close one on Talks.",
            )
        while (code := "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))) in known:
            pass
        secret = secrets.token_urlsafe(16)
        row = {"code": code, "secret": hashed(secret), "opener": opener, "opened": time.time(), **values}
        marks = ", ".join("?" for _ in row)
        db.execute(f"INSERT INTO {self.table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
        return {"code": code, "secret": secret}

    def check(self, db: sqlite3.Connection, code: str, secret: str) -> None:
        """Refuses whoever did not open this room."""
        known = first(db, f"SELECT secret FROM {self.table} WHERE code = ?", code)
        if known is None:
            raise self.gone(code)
        if not hmac.compare_digest(known, hashed(secret)):
            raise HTTPException(403, self.foreign_words)

    def close(self, code: str, secret: str) -> None:
        """Deletes the room with all that is in it."""
        with self.writing(code, secret) as db:
            db.execute(f"DELETE FROM {self.table} WHERE code = ?", (code,))

    def rooms(self, visitor: Visitor) -> list[tuple[str, str, int]]:
        """The code, the title and the number of users of each room that this visitor may close: their own, or
        all.
        """
        if not self.file.exists():
            return []
        mine = f"SELECT code, ({self.title}), ({self.users}) FROM {self.table} WHERE ?1 OR opener = ?2"
        with self.reading() as db:
            return db.execute(mine, (visitor.all_rights, visitor.id or None)).fetchall()

    def close_as(self, visitor: Visitor, code: str) -> None:
        """Deletes a room that this visitor may close, though they do not have its secret."""
        if any(code == theirs for theirs, _, _ in self.rooms(visitor)):
            with self.writing() as db:
                db.execute(f"DELETE FROM {self.table} WHERE code = ?", (code,))

    def expire(self) -> None:
        """Deletes the rooms that are too old, or that nobody uses."""
        with self.writing() as db:
            now = _counted(db)
            for why, (codes, seconds) in enumerate(self.ends(db)):
                db.execute(f"DELETE FROM ending WHERE why = ? AND code NOT IN ({codes})", (why,))
                db.execute(f"INSERT OR IGNORE INTO ending SELECT code, ?, ? FROM ({codes})", (why, now))
                old = "SELECT code FROM ending WHERE why = ? AND since < ?"
                db.execute(f"DELETE FROM {self.table} WHERE code IN ({old})", (why, now - seconds))

    def expire_ever(self) -> None:
        """To be called on a thread of its own: nobody need come for what has ended to be deleted."""
        while True:
            with suppress(sqlite3.Error, FileError):  # looked for again
                if self.file.exists():
                    self.expire()
            time.sleep(EXPIRE_SECONDS)

    # What is asked for.

    def route(self, method: str, path: str, answer: Callable[[Request], Awaitable[Response]]) -> Route:
        async def kept(request: Request) -> Response:
            came = address_of(request), str(request.path_params.get("code", "")).lower()
            if came not in _known and came[0] and MISSES.left(came[0]) < 1:
                raise HTTPException(429, "Many wrong codes came from your network; wait a minute.")
            try:
                answered = await answer(request)
            except GoneError:
                MISSES.take(came[0])
                raise
            except (sqlite3.Error, FileError) as error:
                told = visitors.without_places(str(error))
                raise HTTPException(503, f"{self.the_room} cannot be kept now: {told}; try again.") from error
            _known[came] = True
            return answered

        return Route(path, kept, methods=[method])

    def asks(
        self, method: str, path: str, act: Callable[..., Any], kind: type[BaseModel] | None = None,
        most: int = MOST_BODY, rate: Rate | None = None,
    ) -> Route:  # fmt: skip
        """A route that answers what a function returns: a table, what JSON can hold, or nothing. The function
        is given the code and the bearer's token, or where there is no code the id of a visitor who may open a
        room; and the body, where it has to be of a kind. What is larger than `MOST_BODY` is read of whoever
        opened the room alone. rate: of each address.
        """

        async def answer(request: Request) -> Response:
            if rate and not rate.take(address_of(request)):
                raise HTTPException(429, "Many come from your network just now; try again in a moment.")
            if "code" not in request.path_params:
                who = [self._opener(request)]
            else:
                who = [code_of(request), bearer_of(request)]
                if most > MOST_BODY:
                    await run_in_threadpool(self.admit, *who)
            given = [await parsed(request, kind, most)] if kind else []
            done = await run_in_threadpool(act, *who, *given)
            if isinstance(done, dict) and "problems" in done:  # no room was opened
                OPENINGS.take(address_of(request), -1)
            return sent(done)

        return self.route(method, path, answer)

    def _opener(self, request: Request) -> str:
        visitor = visitors.visitor_with(request.cookies.get(visitors.COOKIE, ""))
        if not visitor.all_rights and teachers.configured():
            raise HTTPException(403, f"Here only a teacher opens {self.a_room}; sign in on Teacher.")
        if not visitor.all_rights and not OPENINGS.take(address_of(request)):
            raise HTTPException(
                429,
                f"Your network opened {OPENINGS.at_once} halls and classes within an hour, the limit; "
                "try again in six minutes.",
            )
        return visitor.id or secrets.token_hex(16)  # of all who keep no cookie, each is a visitor

    def admit(self, code: str, secret: str) -> None:
        """Refuses whoever did not open this room."""
        with self.reading(code, secret):
            return

    def drawn_code(self, code: str, secret: str, given: Text) -> dict[str, str]:
        """A QR code of a text, such as a link. The text may have a secret in it: so it is no address."""
        with self.reading(code, secret):
            return {"image": segno.make_qr(given.text, error="m").svg_data_uri(light="#fff")}


def _counted(db: sqlite3.Connection) -> float:
    """Seconds that this machine has run since the file was made, as far as a server came to count them."""
    counts = "seconds = seconds + iif(boot = ?1 AND up < ?2, ?2 - up, 0), boot = ?1, up = ?2"
    db.execute(f"UPDATE clock SET {counts}", (boot(), uptime()))
    return float(first(db, "SELECT seconds FROM clock"))


def first(db: sqlite3.Connection, query: str, *values: Any) -> Any:
    """The one value that is asked for; None where there is no row."""
    row = db.execute(query, values).fetchone()
    return row and row[0]


def hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


async def body_of(request: Request, most: int) -> bytes:
    """Refuses a body that is too large, comes too slowly, or beside too much else of its address."""
    body = bytearray()
    try:
        with uploading.Body(address_of(request), request.receive) as coming:
            async for part in Request(request.scope, coming.receive).stream():
                body += part
                if len(body) > most:
                    raise HTTPException(413, f"This is more than {readable(most)}; send less.")
    except uploading.RefusedError as error:
        raise HTTPException(*error.args) from None
    except ClientDisconnect:
        raise HTTPException(408, "This was cut off; try again.") from None
    return bytes(body)


async def parsed(request: Request, kind: type[Body], most: int = MOST_BODY) -> Body:
    """Refuses a body that is none of this kind."""
    try:
        return kind.model_validate_json(await body_of(request, most))
    except ValidationError as error:
        (problem, *_) = error.errors(include_url=False, include_input=False, include_context=False)
        place = ".".join(map(str, problem["loc"]))[:MOST_PLACE] or "the body"
        raise HTTPException(400, f"{place}: {problem['msg']}; see types.d.ts.") from None


def is_open_to_all() -> bool:
    """Whether anybody who reaches this server may open a room."""
    return visitors.is_class() and not teachers.configured()


def address_of(request: Request) -> str:
    """The network from which somebody comes to a class; "" where one person uses the server."""
    return visitors.network_of(request.client.host) if visitors.is_class() and request.client else ""


def code_of(request: Request) -> str:
    return str(request.path_params["code"]).lower()


def bearer_of(request: Request) -> str:
    """The secret that is shown, which no address and no log has."""
    return request.headers.get("authorization", "").removeprefix("Bearer ")


def sent(content: Any) -> Response:
    """A text is a table."""
    headers = {"Cache-Control": "no-store"}
    if content is None:
        return Response(status_code=204)
    if isinstance(content, str):
        headers["Content-Disposition"] = 'attachment; filename="answers.csv"'
        return Response(content, headers=headers, media_type="text/csv")
    return JSONResponse(content, headers=headers)
