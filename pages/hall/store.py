"""The halls: talks that others follow, for all processes of a server, in one SQLite file in the runs' folder.

A follower may be at any process, and one that is killed loses nothing. Nobody's name is kept: an answer has a
random word of its browser, so that it can be changed. A hall is deleted with all that is in it when it ends,
when its opener opens too many others, or after `hall_hours`.
"""

import csv
import gzip
import hashlib
import hmac
import io
import json
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attention_lab.models.byte_units import MB
from attention_lab.models.files import writing
from attention_lab.models.limits import in_force
from attention_lab.models.zoo.folders import runs_root

PATIENCE_SECONDS = 5.0
"""So long a process waits for another that writes."""
FRESH_SECONDS = 10.0
"""A press that the show has not heard by then is forgotten: it was cut off meanwhile."""
HALLS_OF_ONE = 3
QUESTIONS = 200
"""Questions of one hall."""
ANSWERS_A_SECOND = 200
"""Answers in one hall; a browser tries again."""
LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
"""Those of codes: none looks like another."""
CODE_LENGTH = 5
_SCHEMA = """
PRAGMA auto_vacuum = FULL;
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
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
PRAGMA user_version = 1;
COMMIT;
"""


class RefusedError(Exception):
    """status: of HTTP. The sentence says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True)
class Seen:
    """What a hall is at a moment. counts: of the question that is asked. presses: those asked for, each with
    its number. last: the number of the last press of all.
    """

    record: dict[str, Any]
    notes: list[str]
    counts: list[int] | None
    presses: list[tuple[int, dict[str, Any]]]
    last: int


def _file() -> Path:
    return runs_root() / ".halls" / "halls.sqlite"


def connected() -> sqlite3.Connection:
    """The file, made where it is not there. Raises sqlite3.Error, and WriteError where it cannot be made."""
    file = _file()
    if not file.exists():
        with writing(file):
            file.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(file, timeout=PATIENCE_SECONDS, isolation_level=None)
    if not db.execute("PRAGMA user_version").fetchone()[0]:
        db.executescript(_SCHEMA)
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA synchronous = NORMAL")  # after a power cut the hall may be a moment behind
    return db


@contextmanager
def _writing() -> Iterator[sqlite3.Connection]:
    """All that is written inside is written, or nothing."""
    with closing(connected()) as db:
        db.execute("BEGIN IMMEDIATE")
        yield db
        db.execute("COMMIT")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _check(db: sqlite3.Connection, code: str, secret: str) -> None:
    known = db.execute("SELECT secret FROM halls WHERE code = ?", (code,)).fetchone()
    if known is None:
        raise gone(code)
    if not hmac.compare_digest(known[0], _hash(secret)):
        raise RefusedError(403, "This is for who opened the hall; open the clicker's own link.")


def check(code: str, secret: str) -> None:
    """Raises RefusedError for whoever does not drive this hall."""
    with closing(connected()) as db:
        _check(db, code, secret)


def gone(code: str) -> RefusedError:
    return RefusedError(
        404, f"There is no talk under {code[:20]!r}: it has ended, or the code is another; ask for its link."
    )


def expire() -> None:
    """Deletes the halls that are too old."""
    with _writing() as db:
        db.execute("DELETE FROM halls WHERE opened < ?", (time.time() - in_force().hall_hours * 3_600,))


def open_hall(opener: str, record: dict[str, Any]) -> tuple[str, str]:
    """The code and the secret of a new hall. opener: the visitor's id."""
    expire()
    secret = secrets.token_urlsafe(16)
    with _writing() as db:
        older = "SELECT code FROM halls WHERE opener = ? ORDER BY opened DESC LIMIT -1 OFFSET ?"
        db.execute(f"DELETE FROM halls WHERE code IN ({older})", (opener, HALLS_OF_ONE - 1))
        (n_open,) = db.execute("SELECT count(*) FROM halls").fetchone()
        if n_open >= in_force().halls:
            raise RefusedError(
                429,
                f"{n_open} halls are open, and at most {in_force().halls} may be; try again when one ends.",
            )
        known = {code for (code,) in db.execute("SELECT code FROM halls")}
        while (code := "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))) in known:
            pass
        values = (code, _hash(secret), opener, time.time(), json.dumps(record))
        db.execute("INSERT INTO halls (code, secret, opener, opened, record) VALUES (?, ?, ?, ?, ?)", values)
        _note_question(db, code, record)
    return code, secret


def tell(code: str, secret: str, record: dict[str, Any]) -> None:
    with _writing() as db:
        _check(db, code, secret)
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
        raise RefusedError(429, f"At most {QUESTIONS} questions are asked in one hall; open another.")
    db.execute(
        "INSERT INTO questions VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET asked = excluded.asked",
        (code, asked["id"], json.dumps(asked), time.time()),
    )


def tell_notes(code: str, secret: str, notes: list[str]) -> None:
    with _writing() as db:
        _check(db, code, secret)
        db.execute("UPDATE halls SET notes = ? WHERE code = ?", (json.dumps(notes), code))


def end(code: str, secret: str) -> None:
    with _writing() as db:
        _check(db, code, secret)
        db.execute("DELETE FROM halls WHERE code = ?", (code,))


def keep(code: str, secret: str, file: str, content: bytes) -> None:
    """Keeps a picture's message under a name that no other has; the oldest go where all are too large."""
    packed = gzip.compress(content, 6, mtime=0)
    with _writing() as db:
        _check(db, code, secret)
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
    with closing(connected()) as db:
        known = db.execute("SELECT packed FROM pictures WHERE code = ? AND file = ?", (code, file)).fetchone()
    if known is None:
        raise RefusedError(404, "This picture is not kept any more; wait for the next.")
    return known[0]


def press(code: str, secret: str, pressed: dict[str, Any]) -> None:
    """For the show, which hears it."""
    with _writing() as db:
        _check(db, code, secret)
        db.execute("DELETE FROM presses WHERE at < ?", (time.time() - FRESH_SECONDS,))
        values = (code, json.dumps(pressed), time.time())
        db.execute("INSERT INTO presses (code, press, at) VALUES (?, ?, ?)", values)


def answer(code: str, question: str, who: str, option: int) -> None:
    """who: a random word of the browser. An answer may be changed until the right one is uncovered; one that
    comes later is counted as late. Raises RefusedError.
    """
    limits, now = in_force(), time.time()
    with _writing() as db:
        hall = db.execute("SELECT record FROM halls WHERE code = ?", (code,)).fetchone()
        if hall is None:
            raise gone(code)
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
        return Seen(record, notes, counts, [(id_, json.loads(text)) for id_, text in rows], last or 0)
    finally:
        db.execute("COMMIT")


def seen_by(code: str, secret: str, after: int) -> Seen:
    """The hall for a new listener. secret: "" for one that follows. Raises RefusedError."""
    with closing(connected()) as db:
        if secret:
            _check(db, code, secret)
        seen = look(db, code, after)
    if seen is None:
        raise gone(code)
    return seen


def table(code: str, secret: str) -> str:
    """All questions of a hall with how many chose each option, as CSV."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["question", "option", "right", "answers", "late"])
    with closing(connected()) as db:
        _check(db, code, secret)
        questions = db.execute("SELECT asked FROM questions WHERE code = ? ORDER BY at", (code,)).fetchall()
        for asked in (json.loads(text) for (text,) in questions):
            for at, (count, late) in enumerate(_counts(db, code, asked)):
                is_right = "" if asked["right"] is None else int(at == asked["right"])
                rows.writerow([_cell(asked["ask"]), _cell(asked["options"][at]), is_right, count, late])
    return text.getvalue()


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" else text
