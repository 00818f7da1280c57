"""What a hall and a class are alike: a code that people type, a secret for whoever opened it, one SQLite file
for all processes of a server, and a sentence for whatever is refused.

A person at any process finds the same, and a process that is killed loses nothing.
"""

import asyncio
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
from pydantic import BaseModel, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from attention_lab.models.byte_units import KB, readable
from attention_lab.models.files import FileError, writing
from attention_lab.models.zoo.folders import runs_root
from attention_lab.pages.shared import teachers, visitors

PATIENCE_SECONDS = 5.0
"""So long a process waits for another that writes."""
LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
"""Those of codes: none looks like another."""
CODE_LENGTH = 5
VERSION = 2
"""Of the tables: one that a file does not have yet is made when it is opened."""
MOST_BODY = 10 * KB
BODY_SECONDS = 60.0
EXPIRE_SECONDS = 600.0
Body = TypeVar("Body", bound=BaseModel)


class Text(BaseModel):
    text: str = Field(min_length=1, max_length=1_000)


@dataclass(frozen=True)
class Rooms:
    """The rooms of one kind. table: of them, with the columns code, secret, opener and opened, and the name
    of their file. schema: SQL, with all other tables. since, seconds: a column with a time, and how long
    after it a room is deleted. a_room, the_room: as sentences name one. gone_words: said where the {code}
    leads to none; foreign_words: said to whoever does not show the secret.
    """

    table: str
    schema: str
    since: str
    seconds: Callable[[], float]
    a_room: str
    the_room: str
    gone_words: str
    foreign_words: str

    @property
    def file(self) -> Path:
        return runs_root() / f".{self.table}" / f"{self.table}.sqlite"

    def connected(self) -> sqlite3.Connection:
        """The file, made where there is none. Raises sqlite3.Error, and WriteError where none can be made."""
        if not self.file.exists():
            with writing(self.file):
                self.file.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self.file, timeout=PATIENCE_SECONDS, isolation_level=None)
        if db.execute("PRAGMA user_version").fetchone()[0] < VERSION:
            db.executescript(
                "PRAGMA auto_vacuum = FULL; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE;"
                f"{self.schema}; PRAGMA user_version = {VERSION}; COMMIT"
            )
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA secure_delete = ON")
        db.execute("PRAGMA synchronous = NORMAL")  # after a power cut a room may be a moment behind
        return db

    @contextmanager
    def reading(self, *shown: str, begin: str = "BEGIN") -> Iterator[sqlite3.Connection]:
        """All that is read is as it was at one moment. shown: a code and a secret, which is checked."""
        with closing(self.connected()) as db:
            db.execute(begin)
            if shown:
                self.check(db, *shown)
            yield db
            db.execute("COMMIT")

    def writing(self, *shown: str) -> AbstractContextManager[sqlite3.Connection]:
        """All that is written inside is written, or nothing. shown: as `reading` checks it."""
        return self.reading(*shown, begin="BEGIN IMMEDIATE")

    def gone(self, code: str) -> HTTPException:
        return HTTPException(404, self.gone_words.format(code=repr(code[:20])))

    def open(self, db: sqlite3.Connection, opener: str, most: int, **values: Any) -> dict[str, str]:
        """The code and the secret of a new room with these values, where there are fewer than `most`."""
        known = {code for (code,) in db.execute(f"SELECT code FROM {self.table}")}
        if len(known) >= most:
            raise HTTPException(
                429,
                f"{len(known)} {self.table} are open, and at most {most} may be; try again when one ends.",
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

    def expire(self) -> None:
        """Deletes the rooms that are too old."""
        with self.writing() as db:
            db.execute(f"DELETE FROM {self.table} WHERE {self.since} < ?", (time.time() - self.seconds(),))

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
            try:
                return await answer(request)
            except (sqlite3.Error, FileError) as error:
                raise HTTPException(
                    503, f"{self.the_room} cannot be kept now: {error}; try again."
                ) from error

        return Route(path, kept, methods=[method])

    def asks(
        self, method: str, path: str, act: Callable[..., Any], kind: type[BaseModel] | None = None,
        most: int = MOST_BODY,
    ) -> Route:  # fmt: skip
        """A route that answers what a function returns: a table, what JSON can hold, or nothing. The function
        is given the code and the bearer's token, or where there is no code the id of a visitor who may open a
        room; and the body, where it has to be of a kind.
        """

        async def answer(request: Request) -> Response:
            given = [await parsed(request, kind, most)] if kind else []
            is_new = "code" not in request.path_params
            who = [self._opener(request)] if is_new else [code_of(request), bearer_of(request)]
            return sent(await run_in_threadpool(act, *who, *given))

        return self.route(method, path, answer)

    def _opener(self, request: Request) -> str:
        visitor = visitors.visitor_with(request.cookies.get(visitors.COOKIE, ""))
        if not visitor.all_rights and teachers.configured():
            raise HTTPException(403, f"Here only a teacher opens {self.a_room}; sign in on Teacher.")
        return visitor.id

    def drawn_code(self, code: str, secret: str, given: Text) -> dict[str, str]:
        """A QR code of a text, such as a link. The text may have a secret in it: so it is no address."""
        with self.reading(code, secret):
            return {"image": segno.make_qr(given.text, error="m").svg_data_uri(light="#fff")}


def first(db: sqlite3.Connection, query: str, *values: Any) -> Any:
    """The one value that is asked for; None where there is no row."""
    row = db.execute(query, values).fetchone()
    return row and row[0]


def hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


async def body_of(request: Request, most: int) -> bytes:
    """Refuses a body that is too large, or comes too slowly."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > most:
                    raise HTTPException(413, f"This is more than {readable(most)}; send less.")
    except (TimeoutError, ClientDisconnect):
        raise HTTPException(408, "This came too slowly; try again.") from None
    return bytes(body)


async def parsed(request: Request, kind: type[Body], most: int = MOST_BODY) -> Body:
    """Refuses a body that is none of this kind."""
    try:
        return kind.model_validate_json(await body_of(request, most))
    except ValidationError as error:
        (problem, *_) = error.errors(include_url=False, include_input=False, include_context=False)
        place = ".".join(map(str, problem["loc"])) or "the body"
        raise HTTPException(400, f"{place}: {problem['msg']}; send what types.d.ts declares.") from None


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
