"""The halls: talks that others follow. Nobody's name is kept: an answer has a
random word of its browser, so that it can be changed. A hall is deleted with all that is in it when it ends,
when its opener opens too many others, or after `hall_hours`.
"""

import csv
import gzip
import io
import json
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from attention_lab.models.byte_units import MB
from attention_lab.models.limits import in_force
from attention_lab.models.runs.processes import Identity, this_process
from attention_lab.pages.shared.rooms import RefusedError, Rooms, cell

FRESH_SECONDS = 10.0
"""A press that the show has not heard by then is forgotten: it was cut off meanwhile."""
HALLS_OF_ONE = 3
QUESTIONS = 200
"""Questions of one hall."""
ANSWERS_A_SECOND = 200
"""Answers in one hall; a browser tries again."""
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
HALLS = Rooms(
    "halls",
    _SCHEMA,
    "There is no talk under {code}: it has ended, or the code is another; ask for its link.",
    "This is for who opened the hall; open the clicker's own link.",
)


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


def check(code: str, secret: str) -> None:
    """Raises RefusedError for whoever does not drive this hall."""
    with closing(HALLS.connected()) as db:
        HALLS.check(db, code, secret)


def expire() -> None:
    """Deletes the halls that are too old."""
    with HALLS.writing() as db:
        db.execute("DELETE FROM halls WHERE opened < ?", (time.time() - in_force().hall_hours * 3_600,))


def open_hall(opener: str, record: dict[str, Any]) -> tuple[str, str]:
    """The code and the secret of a new hall. opener: the visitor's id."""
    expire()
    with HALLS.writing() as db:
        older = "SELECT code FROM halls WHERE opener = ? ORDER BY opened DESC LIMIT -1 OFFSET ?"
        db.execute(f"DELETE FROM halls WHERE code IN ({older})", (opener, HALLS_OF_ONE - 1))
        code, secret = HALLS.open(db, opener, in_force().halls, record=json.dumps(record))
        _note_question(db, code, record)
    return code, secret


def tell(code: str, secret: str, record: dict[str, Any]) -> None:
    with HALLS.writing() as db:
        HALLS.check(db, code, secret)
        db.execute("UPDATE halls SET record = ? WHERE code = ?", (json.dumps(record), code))
        _note_question(db, code, record)


def _note_question(db: sqlite3.Connection, code: str, record: dict[str, Any]) -> None:
    asked = record["asked"]
    if not asked:
        return
    (n_others,) = db.execute(
        "SELECT count(*) FROM questions WHERE code = ? AND id != ?", (code, asked["id"])
    ).fetchone()
    if n_others >= QUESTIONS:
        raise RefusedError(400, f"At most {QUESTIONS} questions are asked in one hall; open another.")
    db.execute(
        "INSERT INTO questions VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET asked = excluded.asked",
        (code, asked["id"], json.dumps(asked), time.time()),
    )


def tell_notes(code: str, secret: str, notes: list[str]) -> None:
    with HALLS.writing() as db:
        HALLS.check(db, code, secret)
        db.execute("UPDATE halls SET notes = ? WHERE code = ?", (json.dumps(notes), code))


def keep(code: str, secret: str, file: str, content: bytes) -> None:
    """Keeps a picture's message under a name that no other has; the oldest go where all are too large."""
    packed = gzip.compress(content, 6, mtime=0)
    with HALLS.writing() as db:
        HALLS.check(db, code, secret)
        db.execute(
            "INSERT OR IGNORE INTO pictures (code, file, packed) VALUES (?, ?, ?)", (code, file, packed)
        )
        room = in_force().hall_mb * MB
        sizes = "SELECT at, length(packed) FROM pictures WHERE code = ? ORDER BY at DESC"
        for at, size in db.execute(sizes, (code,)).fetchall():
            room -= size
            if room < 0:
                db.execute("DELETE FROM pictures WHERE at = ?", (at,))


def picture(code: str, file: str) -> bytes:
    """A picture's message, packed by gzip."""
    with closing(HALLS.connected()) as db:
        known = db.execute("SELECT packed FROM pictures WHERE code = ? AND file = ?", (code, file)).fetchone()
    if known is None:
        raise RefusedError(404, "This picture is not kept any more; wait for the next.")
    return known[0]


def press(code: str, secret: str, pressed: dict[str, Any]) -> None:
    """For the show, which hears it."""
    with HALLS.writing() as db:
        HALLS.check(db, code, secret)
        db.execute("DELETE FROM presses WHERE at < ?", (time.time() - FRESH_SECONDS,))
        values = (code, json.dumps(pressed), time.time())
        db.execute("INSERT INTO presses (code, press, at) VALUES (?, ?, ?)", values)


def answer(code: str, question: str, who: str, option: int) -> None:
    """who: a random word of the browser. An answer may be changed until the right one is uncovered; one that
    comes later is counted as late. Raises RefusedError.
    """
    limits, now = in_force(), time.time()
    with HALLS.writing() as db:
        hall = db.execute("SELECT record FROM halls WHERE code = ?", (code,)).fetchone()
        if hall is None:
            raise HALLS.gone(code)
        known = db.execute(
            "SELECT asked FROM questions WHERE code = ? AND id = ?", (code, question)
        ).fetchone()
        if known is None or not 0 <= option < len(json.loads(known[0])["options"]):
            raise RefusedError(400, "This question is not asked, or has no such option; load the page again.")
        asked = json.loads(hall[0])["asked"]
        late = not asked or asked["id"] != question or asked["uncovered"]
        recent = "SELECT count(*) FROM answers WHERE code = ? AND at > ?"
        if db.execute(recent, (code, now - 1)).fetchone()[0] >= ANSWERS_A_SECOND:
            raise RefusedError(429, "Many answer just now; yours is sent again in a moment.")
        own = "SELECT late FROM answers WHERE code = ? AND question = ? AND who = ?"
        before = db.execute(own, (code, question, who)).fetchone()
        if before and late and not before[0]:
            raise RefusedError(409, "The answer is uncovered: yours is counted as it was.")
        of_all = "SELECT count(*) FROM answers WHERE code = ? AND question = ?"
        if not before and db.execute(of_all, (code, question)).fetchone()[0] >= limits.hall_listeners:
            raise RefusedError(429, f"At most {limits.hall_listeners:,} answers are counted.")
        db.execute(
            "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)",
            (code, question, who, option, late, now),
        )


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
    db.execute("BEGIN")  # all of it as it was at one moment
    try:
        known = db.execute("SELECT record, notes FROM halls WHERE code = ?", (code,)).fetchone()
        if known is None:
            return None
        record, notes = map(json.loads, known)
        asked = record["asked"]
        counts = [count for count, _ in _counts(db, code, asked)] if asked else None
        fresh = "SELECT id, press FROM presses WHERE code = ? AND id > ? AND at > ? ORDER BY id"
        rows = db.execute(fresh, (code, after, time.time() - FRESH_SECONDS)).fetchall()
        (last,) = db.execute("SELECT max(id) FROM presses").fetchone()
        presses = [(id_, json.loads(text)) for id_, text in rows]
        follow = db.execute("SELECT process, n FROM followers WHERE code = ?", (code,)).fetchall()
        following = sum(n for process, n in follow if Identity.parse(process).alive)
        return Seen(record, notes, counts, following, presses, last or 0)
    finally:
        db.execute("COMMIT")


def count_followers(following: dict[str, int]) -> None:
    """How many windows follow each hall by this process."""
    process = str(this_process())
    with HALLS.writing() as db:
        db.execute("DELETE FROM followers WHERE process = ?", (process,))
        for code, n in following.items():
            db.execute(
                "INSERT INTO followers SELECT code, ?, ? FROM halls WHERE code = ?", (process, n, code)
            )


def seen_by(code: str, secret: str, after: int) -> Seen:
    """The hall for a new listener. secret: "" for one that follows. Raises RefusedError."""
    with closing(HALLS.connected()) as db:
        if secret:
            HALLS.check(db, code, secret)
        seen = look(db, code, after)
    if seen is None:
        raise HALLS.gone(code)
    return seen


def table(code: str, secret: str) -> str:
    """All questions of a hall with how many chose each option, as CSV."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["question", "option", "right", "answers", "late"])
    with closing(HALLS.connected()) as db:
        HALLS.check(db, code, secret)
        questions = db.execute("SELECT asked FROM questions WHERE code = ? ORDER BY at", (code,)).fetchall()
        for asked in (json.loads(text) for (text,) in questions):
            for at, (count, late) in enumerate(_counts(db, code, asked)):
                is_right = "" if asked["right"] is None else int(at == asked["right"])
                rows.writerow([cell(asked["ask"]), cell(asked["options"][at]), is_right, count, late])
    return text.getvalue()
