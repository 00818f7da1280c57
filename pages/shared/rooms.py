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
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import segno
from pydantic import BaseModel, Field, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

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
_FORMULA = "=+-@\t\r"
Body = TypeVar("Body", bound=BaseModel)
Handler = Callable[[Request], Awaitable[Response]]


class RefusedError(Exception):
    """status: of HTTP. The sentence says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True)
class Rooms:
    """The rooms of one kind. table: of them, with the columns code, secret, opener and opened, and the name
    of their file. schema: SQL, with all other tables. gone_words: said where the {code} leads to none;
    foreign_words: said to whoever does not show the secret.
    """

    table: str
    schema: str
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
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All that is written inside is written, or nothing."""
        with closing(self.connected()) as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")

    def gone(self, code: str) -> RefusedError:
        return RefusedError(404, self.gone_words.format(code=repr(code[:20])))

    def open(self, db: sqlite3.Connection, opener: str, most: int, **values: Any) -> tuple[str, str]:
        """The code and the secret of a new room with these values, where there are fewer than `most`."""
        known = {code for (code,) in db.execute(f"SELECT code FROM {self.table}")}
        if len(known) >= most:
            raise RefusedError(
                429,
                f"{len(known)} {self.table} are open, and at most {most} may be; try again when one ends.",
            )
        while (code := "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))) in known:
            pass
        secret = secrets.token_urlsafe(16)
        row = {"code": code, "secret": hashed(secret), "opener": opener, "opened": time.time(), **values}
        marks = ", ".join("?" for _ in row)
        db.execute(f"INSERT INTO {self.table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
        return code, secret

    def check(self, db: sqlite3.Connection, code: str, secret: str) -> None:
        """Raises RefusedError for whoever did not open this room."""
        known = db.execute(f"SELECT secret FROM {self.table} WHERE code = ?", (code,)).fetchone()
        if known is None:
            raise self.gone(code)
        if not hmac.compare_digest(known[0], hashed(secret)):
            raise RefusedError(403, self.foreign_words)

    def close(self, code: str, secret: str) -> None:
        """Deletes the room with all that is in it."""
        with self.writing() as db:
            self.check(db, code, secret)
            db.execute(f"DELETE FROM {self.table} WHERE code = ?", (code,))


def hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in _FORMULA else text


# What is asked for.


def refusing(handler: Handler, what: str) -> Handler:
    """Answers what is refused with a sentence. what: of the kind, such as "The hall"."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except RefusedError as refused:
            return PlainTextResponse(str(refused), refused.status)
        except (sqlite3.Error, FileError) as error:
            return PlainTextResponse(f"{what} cannot be kept now: {error}; try again.", 503)

    return answer


async def body_of(request: Request, most: int) -> bytes:
    """Raises RefusedError for a body that is too large, or comes too slowly."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > most:
                    raise RefusedError(413, f"This is more than {readable(most)}; send less.")
    except (TimeoutError, ClientDisconnect):
        raise RefusedError(408, "This came too slowly; try again.") from None
    return bytes(body)


async def parsed(request: Request, kind: type[Body], most: int = MOST_BODY) -> Body:
    """Raises RefusedError for a body that is none of this kind."""
    try:
        return kind.model_validate_json(await body_of(request, most))
    except ValidationError as error:
        (first, *_) = error.errors(include_url=False, include_input=False, include_context=False)
        place = ".".join(map(str, first["loc"])) or "the body"
        raise RefusedError(400, f"{place}: {first['msg']}; send what types.d.ts declares.") from None


def code_of(request: Request) -> str:
    return str(request.path_params["code"]).lower()


def bearer_of(request: Request) -> str:
    """The secret that is shown, which no address and no log has."""
    return request.headers.get("authorization", "").removeprefix("Bearer ")


def opener_of(request: Request, what: str) -> str:
    """The id of a visitor who may open one. Raises RefusedError for others. what: such as "a hall"."""
    visitor = visitors.visitor_with(request.cookies.get(visitors.COOKIE, ""))
    if not visitor.all_rights and teachers.configured():
        raise RefusedError(403, f"Here only a teacher opens {what}; sign in on Teacher.")
    return visitor.id


def done() -> Response:
    return Response(status_code=204)


def sent_table(table: str) -> Response:
    headers = {"Content-Disposition": 'attachment; filename="answers.csv"', "Cache-Control": "no-store"}
    return Response(table, headers=headers, media_type="text/csv")


class Text(BaseModel):
    text: str = Field(min_length=1, max_length=1_000)


async def drawn_code(request: Request) -> Response:
    """A QR code of a text, such as a link. The text may have a secret in it: so it is no address."""
    given = await parsed(request, Text)
    return JSONResponse({"image": segno.make_qr(given.text, error="m").svg_data_uri(light="#fff")})
