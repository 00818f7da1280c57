"""The classes: work sheets that students have, and what these hand in, until the sheet is deleted, or a day
after its end.

A student is known by a random token of its browser, of which the server has the hash, and by the name that it
gives, if it gives one.
"""

import csv
import io
import secrets
import sqlite3
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from typing import Any

from attention_lab.models.files import FileError
from attention_lab.models.limits import in_force
from attention_lab.pages.shared.rooms import RefusedError, Rooms, cell, hashed
from attention_lab.pages.sheets.sheet import Sheet, Verdict

DAY_SECONDS = 86_400.0
MOST_DAYS = 366
EXPIRE_SECONDS = 600.0
CLASSES_OF_ONE = 20
_SCHEMA = """
CREATE TABLE IF NOT EXISTS classes (
    code TEXT PRIMARY KEY, secret TEXT, opener TEXT, opened REAL, ends REAL, sheet TEXT
);
CREATE TABLE IF NOT EXISTS students (
    id INTEGER PRIMARY KEY, code TEXT REFERENCES classes ON DELETE CASCADE, token TEXT UNIQUE, name TEXT,
    at INTEGER DEFAULT 0, seen REAL
);
CREATE TABLE IF NOT EXISTS answers (
    student INTEGER REFERENCES students ON DELETE CASCADE, task INTEGER, answer TEXT, right INTEGER,
    tries INTEGER, at REAL, PRIMARY KEY (student, task)
)
"""
CLASSES = Rooms(
    "classes",
    _SCHEMA,
    "There is no work sheet under {code}: it has ended, or the code is another; ask for its link.",
    "This is for who gave the sheet; open the teacher's own link.",
)


def expire() -> None:
    """Deletes the classes that ended more than a day ago."""
    if CLASSES.file.exists():
        with CLASSES.writing() as db:
            db.execute("DELETE FROM classes WHERE ends < ?", (time.time() - DAY_SECONDS,))


def expire_ever() -> None:
    """To be called on a thread of its own: nobody need come for what has ended to be deleted."""
    while True:
        with suppress(sqlite3.Error, FileError):  # looked for again
            expire()
        time.sleep(EXPIRE_SECONDS)


def open_class(opener: str, sheet: Sheet, ends: float) -> tuple[str, str]:
    """The code and the secret of a new class. opener: the visitor's id."""
    days = (ends - time.time()) / DAY_SECONDS
    if not 0 < days <= MOST_DAYS:
        raise RefusedError(400, f"It would end in {days:,.0f} days; choose a day from now on, within a year.")
    expire()
    with CLASSES.writing() as db:
        (own,) = db.execute("SELECT count(*) FROM classes WHERE opener = ?", (opener,)).fetchone()
        if own >= CLASSES_OF_ONE:
            raise RefusedError(429, f"You have {own} classes open; delete one on its teacher's page first.")
        return CLASSES.open(db, opener, in_force().classes, ends=ends, sheet=sheet.model_dump_json())


def _class(db: sqlite3.Connection, code: str) -> tuple[Sheet, float]:
    known = db.execute("SELECT sheet, ends FROM classes WHERE code = ?", (code,)).fetchone()
    if known is None or known[1] < time.time() - DAY_SECONDS:
        raise CLASSES.gone(code)
    return Sheet.model_validate_json(known[0]), known[1]


def sheet_of(code: str) -> tuple[Sheet, float]:
    """The sheet, and when it ends."""
    with closing(CLASSES.connected()) as db:
        return _class(db, code)


def join(code: str, name: str) -> str:
    """The token of a new student."""
    token, most = secrets.token_urlsafe(16), in_force().class_students
    with CLASSES.writing() as db:
        _class(db, code)
        (count,) = db.execute("SELECT count(*) FROM students WHERE code = ?", (code,)).fetchone()
        if count >= most:
            raise RefusedError(429, f"{count} work on this sheet, and at most {most} may; ask who gave it.")
        values = (code, hashed(token), name, time.time())
        db.execute("INSERT INTO students (code, token, name, seen) VALUES (?, ?, ?, ?)", values)
    return token


def _student(db: sqlite3.Connection, code: str, token: str) -> int:
    known = "SELECT id FROM students WHERE code = ? AND token = ?"
    row = db.execute(known, (code, hashed(token))).fetchone()
    if row is None:
        raise RefusedError(403, "This browser has not begun this sheet; load the page again.")
    return int(row[0])


def move(code: str, token: str, at: int) -> None:
    """Notes at which stop a student is."""
    with CLASSES.writing() as db:
        student = _student(db, code, token)
        db.execute("UPDATE students SET at = ?, seen = ? WHERE id = ?", (at, time.time(), student))


def check_open(code: str, token: str, task: int) -> Sheet:
    """The sheet of a student who may answer a task now."""
    with closing(CLASSES.connected()) as db:
        sheet, ends = _class(db, code)
        _student(db, code, token)
    if ends < time.time():
        raise RefusedError(403, "This sheet has ended: what you have answered counts as it is.")
    sheet.task(task)
    return sheet


def answer(code: str, token: str, task: int, verdict: Verdict) -> None:
    """Keeps the last answer to a task; one that was right stays."""
    right = None if verdict.right is None else int(verdict.right)
    with CLASSES.writing() as db:
        student, now = _student(db, code, token), time.time()
        db.execute("UPDATE students SET seen = ? WHERE id = ?", (now, student))
        db.execute(
            "INSERT INTO answers VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT DO UPDATE SET "
            "answer = excluded.answer, right = excluded.right, tries = tries + 1, at = excluded.at "
            "WHERE right IS NOT 1",
            (student, task, verdict.kept, right, now),
        )


def answers_of(code: str, token: str) -> dict[int, dict[str, Any]]:
    """A student's own answers by task."""
    with closing(CLASSES.connected()) as db:
        return _answers(db, _student(db, code, token))


def _answers(db: sqlite3.Connection, student: int) -> dict[int, dict[str, Any]]:
    rows = db.execute("SELECT task, answer, right, tries, at FROM answers WHERE student = ?", (student,))
    return {
        task: {"answer": text, "right": None if right is None else bool(right), "tries": tries, "at": at}
        for task, text, right, tries, at in rows
    }


def progress(code: str, secret: str) -> dict[str, Any]:
    """How the class goes, for the teacher: who is where, with all answers."""
    with closing(CLASSES.connected()) as db:
        db.execute("BEGIN")  # all of it as it was at one moment
        CLASSES.check(db, code, secret)
        sheet, ends = _class(db, code)
        rows = db.execute("SELECT id, name, at, seen FROM students WHERE code = ? ORDER BY id", (code,))
        students = [
            {"name": name, "number": number, "at": at, "seen": seen, "answers": _answers(db, student)}
            for number, (student, name, at, seen) in enumerate(rows.fetchall(), start=1)
        ]
    tasks = [
        {"title": task.title, "kind": task.kind, "question": task.question and task.question.model_dump()}
        for task in sheet.stops
    ]
    return {"title": sheet.title, "ends": ends, "now": time.time(), "tasks": tasks, "students": students}


def table(code: str, secret: str) -> str:
    """All answers as CSV: a row for each student and task."""
    known = progress(code, secret)
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["student", "task", "title", "answer", "right", "tries", "time"])
    for student in known["students"]:
        for task, given in sorted(student["answers"].items()):
            when = datetime.fromtimestamp(given["at"], UTC).isoformat(timespec="seconds")
            right = "" if given["right"] is None else int(given["right"])
            title = known["tasks"][task]["title"]
            texts = (student["name"] or f"student {student['number']}", title, given["answer"])
            name, title, answered = map(cell, texts)
            rows.writerow([name, task + 1, title, answered, right, given["tries"], when])
    return text.getvalue()
