"""The halls: talks that others follow. Nobody's name is kept: an answer has a
random word of its browser, so that it can be changed. A hall is deleted with all that is in it when it ends,
when its opener opens too many others, or after `HOURS`.
"""

import gzip
import json
import sqlite3
import time
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from attention_lab.models.byte_units import MB
from attention_lab.models.limits import in_force
from attention_lab.models.runs.processes import Identity, this_process
from attention_lab.models.spreadsheet import csv_text
from attention_lab.pages.shared.code_rooms import UNUSED_SECONDS, Rooms, first

FRESH_SECONDS = 10.0
"""A press that the show has not heard by then is forgotten: it was cut off meanwhile."""
HALLS_OF_ONE = 3
HOURS = 24
"""After them a talk that others follow is deleted, with the answers."""
PICTURE_BYTES = 64 * MB
"""Of one talk's pictures that are kept for who follows it, packed; the oldest go."""
MOST_LISTENERS = 1_000
"""Windows that follow one talk by one server, each an open connection; answers to one of its questions."""
QUESTIONS = 200
"""Questions of one hall."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS halls (
    code TEXT PRIMARY KEY, secret TEXT, opener TEXT, opened REAL, record TEXT, notes TEXT DEFAULT '[]'
);
CREATE TABLE IF NOT EXISTS pictures (
    at INTEGER PRIMARY KEY AUTOINCREMENT, code TEXT REFERENCES halls ON DELETE CASCADE, file TEXT,
    packed BLOB, UNIQUE (code, file)
);
CREATE TABLE IF NOT EXISTS presses (
    id INTEGER PRIMARY KEY AUTOINCREMENT, code TEXT REFERENCES halls ON DELETE CASCADE, press TEXT, at REAL
);
CREATE TABLE IF NOT EXISTS questions (
    code TEXT REFERENCES halls ON DELETE CASCADE, id TEXT, asked TEXT, at REAL, PRIMARY KEY (code, id)
);
CREATE TABLE IF NOT EXISTS answers (
    code TEXT REFERENCES halls ON DELETE CASCADE, question TEXT, who TEXT, option INTEGER, late INTEGER,
    at REAL, PRIMARY KEY (code, question, who)
);
CREATE TABLE IF NOT EXISTS followers (
    code TEXT REFERENCES halls ON DELETE CASCADE, process TEXT, n INTEGER, PRIMARY KEY (code, process)
);
"""


def _ends(db: sqlite3.Connection) -> list[tuple[str, float]]:
    """A hall ends that is old, or that no window follows or drives and nobody has answered in."""
    for (process,) in db.execute("SELECT DISTINCT process FROM followers").fetchall():
        if not Identity.parse(process).alive:
            db.execute("DELETE FROM followers WHERE process = ?", (process,))
    used = "SELECT code FROM followers UNION SELECT code FROM answers"
    unused = f"SELECT code FROM halls WHERE code NOT IN ({used})"
    return [("SELECT code FROM halls", HOURS * 3_600), (unused, UNUSED_SECONDS)]


HALLS = Rooms(
    "halls",
    _SCHEMA,
    _ends,
    "SELECT json_extract(record, '$.title')",
    "SELECT coalesce(sum(n), 0) FROM followers WHERE code = halls.code",
    "a hall",
    "The hall",
    "There is no talk under {code}: ask for its link.",
    "Only who opened the hall may do this; open the clicker's own link.",
)


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


class Answer(BaseModel):
    """who: a random word of the browser."""

    question: Name
    option: int
    who: Name


@dataclass(frozen=True)
class Seen:
    """What a hall is at a moment. counts: of the question that is asked. following: how many windows do.
    presses: those asked for, each with its number. last: the number of the last press of all.
    """

    record: dict[str, Any]
    notes: list[str]
    counts: list[int] | None
    following: int
    presses: list[tuple[int, dict[str, Any]]]
    last: int


def open_hall(opener: str, record: Shared) -> dict[str, str]:
    """The code and the secret of a new hall. opener: the visitor's id."""
    HALLS.expire()
    with HALLS.writing() as db:
        older = "SELECT code FROM halls WHERE opener = ? ORDER BY rowid DESC LIMIT -1 OFFSET ?"
        db.execute(f"DELETE FROM halls WHERE code IN ({older})", (opener, HALLS_OF_ONE - 1))
        opened = HALLS.open(db, opener, in_force().halls, record=record.model_dump_json())
        _note_question(db, opened["code"], record.asked)
    return opened


def tell(code: str, secret: str, record: Shared) -> None:
    with HALLS.writing(code, secret) as db:
        db.execute("UPDATE halls SET record = ? WHERE code = ?", (record.model_dump_json(), code))
        _note_question(db, code, record.asked)


def _note_question(db: sqlite3.Connection, code: str, asked: Asked | None) -> None:
    if asked is None:
        return
    if first(db, "SELECT count(*) FROM questions WHERE code = ? AND id != ?", code, asked.id) >= QUESTIONS:
        raise HTTPException(400, f"At most {QUESTIONS} questions are asked in one hall; open another.")
    db.execute(
        "INSERT INTO questions VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET asked = excluded.asked",
        (code, asked.id, asked.model_dump_json(), time.time()),
    )


def tell_notes(code: str, secret: str, told: Notes) -> None:
    with HALLS.writing(code, secret) as db:
        db.execute("UPDATE halls SET notes = ? WHERE code = ?", (json.dumps(told.notes or []), code))


def keep(code: str, secret: str, file: str, content: bytes) -> None:
    """Keeps a picture's message under a name that no other has; the oldest go where all are too large."""
    packed = gzip.compress(content, 6, mtime=0)
    with HALLS.writing(code, secret) as db:
        db.execute(
            "INSERT OR IGNORE INTO pictures (code, file, packed) VALUES (?, ?, ?)", (code, file, packed)
        )
        sizes = "SELECT at, sum(length(packed)) OVER (ORDER BY at DESC) AS size FROM pictures WHERE code = ?"
        too_old = f"SELECT at FROM ({sizes}) WHERE size > ?"
        db.execute(f"DELETE FROM pictures WHERE at IN ({too_old})", (code, PICTURE_BYTES))


def picture(code: str, file: str) -> bytes:
    """A picture's message, packed by gzip."""
    with HALLS.reading() as db:
        packed = first(db, "SELECT packed FROM pictures WHERE code = ? AND file = ?", code, file)
    if packed is None:
        raise HTTPException(404, "This picture is gone; wait for the next.")
    return bytes(packed)


def press(code: str, secret: str, pressed: Press) -> None:
    """For the show, which hears it."""
    with HALLS.writing(code, secret) as db:
        db.execute("DELETE FROM presses WHERE at < ?", (time.time() - FRESH_SECONDS,))
        values = (code, pressed.model_dump_json(), time.time())
        db.execute("INSERT INTO presses (code, press, at) VALUES (?, ?, ?)", values)


def answer(code: str, _token: str, given: Answer) -> None:
    """An answer may be changed until the right one is uncovered; one that comes later is counted as late."""
    now = time.time()
    question, who = given.question, given.who
    with HALLS.writing() as db:
        record = first(db, "SELECT record FROM halls WHERE code = ?", code)
        if record is None:
            raise HALLS.gone(code)
        known = first(db, "SELECT asked FROM questions WHERE code = ? AND id = ?", code, question)
        if known is None or not 0 <= given.option < len(json.loads(known)["options"]):
            raise HTTPException(400, "This question is not asked, or has no such option; reload.")
        asked = json.loads(record)["asked"]
        late = not asked or asked["id"] != question or asked["uncovered"]
        own = "SELECT late FROM answers WHERE code = ? AND question = ? AND who = ?"
        was_late = first(db, own, code, question, who)
        if late and was_late == 0:
            raise HTTPException(409, "The answer is uncovered; yours still counts.")
        of_all = "SELECT count(*) FROM answers WHERE code = ? AND question = ?"
        if was_late is None and first(db, of_all, code, question) >= MOST_LISTENERS:
            raise HTTPException(429, f"At most {MOST_LISTENERS:,} answers are counted.")
        db.execute(
            "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)",
            (code, question, who, given.option, late, now),
        )


def clear(code: str, secret: str) -> None:
    """Deletes the answers to the question that is asked."""
    with HALLS.writing(code, secret) as db:
        asked = json.loads(first(db, "SELECT record FROM halls WHERE code = ?", code))["asked"]
        db.execute("DELETE FROM answers WHERE code = ? AND question = ?", (code, asked and asked["id"]))


def _counts(db: sqlite3.Connection, code: str, asked: dict[str, Any]) -> list[tuple[int, int]]:
    """How many chose each option, and how many of them late."""
    rows = db.execute(
        "SELECT option, count(*), sum(late) FROM answers WHERE code = ? AND question = ? GROUP BY option",
        (code, asked["id"]),
    )
    known = {option: (count, late) for option, count, late in rows}
    return [known.get(option, (0, 0)) for option in range(len(asked["options"]))]


def look(db: sqlite3.Connection, code: str, after: int) -> Seen | None:
    """The hall as it is now; None where it is not there. after: the last press that is not asked for."""
    known = db.execute("SELECT record, notes FROM halls WHERE code = ?", (code,)).fetchone()
    if known is None:
        return None
    record, notes = map(json.loads, known)
    asked = record["asked"]
    counts = [count for count, _ in _counts(db, code, asked)] if asked else None
    follow = db.execute("SELECT process, n FROM followers WHERE code = ?", (code,)).fetchall()
    following = sum(n for process, n in follow if Identity.parse(process).alive)
    fresh = "SELECT id, press FROM presses WHERE code = ? AND id > ? AND at > ? ORDER BY id"
    rows = db.execute(fresh, (code, after, time.time() - FRESH_SECONDS)).fetchall()
    presses = [(id_, json.loads(text)) for id_, text in rows]
    last = first(db, "SELECT max(id) FROM presses") or 0
    return Seen(record, notes, counts, following, presses, last)


def count_followers(following: dict[str, int]) -> None:
    """How many windows follow each hall by this process; none where one drives alone."""
    process = str(this_process())
    with HALLS.writing() as db:
        db.execute("DELETE FROM followers WHERE process = ?", (process,))
        for code, n in following.items():
            db.execute(
                "INSERT INTO followers SELECT code, ?, ? FROM halls WHERE code = ?", (process, n, code)
            )


def seen_by(code: str, secret: str, after: int) -> Seen:
    """The hall for a new listener. secret: "" for one that follows."""
    with HALLS.reading(*([code, secret] if secret else [])) as db:
        seen = look(db, code, after)
    if seen is None:
        raise HALLS.gone(code)
    return seen


def table(code: str, secret: str) -> str:
    """All questions of a hall with how many chose each option, as CSV."""
    rows: list[list[Any]] = [["question", "option", "right", "answers", "late"]]
    with HALLS.reading(code, secret) as db:
        questions = db.execute("SELECT asked FROM questions WHERE code = ? ORDER BY at", (code,)).fetchall()
        for asked in (json.loads(text) for (text,) in questions):
            for at, (count, late) in enumerate(_counts(db, code, asked)):
                is_right = "" if asked["right"] is None else int(at == asked["right"])
                rows.append([asked["ask"], asked["options"][at], is_right, count, late])
    return csv_text(rows)
