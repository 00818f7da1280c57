"""The classes: work sheets that students have, and what these hand in, until the sheet is deleted, or a day
after its end.

A student is known by a random token of its browser, of which the server has the hash, and by the name that it
gives, if it gives one.
"""

import secrets
import sqlite3
import time
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from attention_lab.models.byte_units import KB, MB, readable
from attention_lab.models.limits import in_force
from attention_lab.models.spreadsheet import csv_text
from attention_lab.pages.shared.code_rooms import UNUSED_SECONDS, Rooms, first, hashed, is_open_to_all
from attention_lab.pages.shared.work import Asker, Queue
from attention_lab.pages.sheets.sheet import MOST_TASKS, Sheet, Verdict

DAY_SECONDS = 86_400.0
MARGIN_SECONDS = 5.0
"""By which the clock may be set back while a page looks for what has changed."""
MOST_OF_A_STUDENT = 100 * KB
"""Of answers: 40 short texts; a link of those that people make has some hundred characters."""
MOST_OF_A_CLASS = 10 * MB
"""Of answers: 200 students with a long text to each task."""
MOST_DAYS = 366
MOST_STUDENTS = 200
"""Browsers that work on one sheet."""
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
);
CREATE TABLE IF NOT EXISTS firsts (
    student INTEGER, task INTEGER, answer TEXT, right INTEGER, PRIMARY KEY (student, task),
    FOREIGN KEY (student, task) REFERENCES answers ON DELETE CASCADE
)
"""
"""firsts: where a later answer took the place of the first, which counts."""
_checks = Queue("sheets", smaller="give fewer tasks with rules")


def _ends(_db: sqlite3.Connection) -> list[tuple[str, float]]:
    """A class ends a day after its last day; and where anybody may open one, if nobody has begun it."""
    over = [(f"SELECT code FROM classes WHERE ends < {time.time()}", DAY_SECONDS)]
    unused = "SELECT code FROM classes WHERE code NOT IN (SELECT code FROM students)"
    return [*over, *([(unused, UNUSED_SECONDS)] if is_open_to_all() else [])]


CLASSES = Rooms(
    "classes",
    _SCHEMA,
    _ends,
    "SELECT json_extract(sheet, '$.title')",
    "SELECT count(*) FROM students WHERE code = classes.code AND token IS NOT NULL",
    "a class",
    "The sheet",
    "There is no work sheet under {code}: ask for its link.",
    "This is for who gave the sheet; open the teacher's own link.",
)


class Opened(BaseModel):
    """ends: seconds since 1970."""

    sheet: Sheet
    ends: float = Field(allow_inf_nan=False)


class Student(BaseModel):
    name: str = Field(max_length=40, pattern=r"^[^\x00-\x1f]*$")


class Place(BaseModel):
    at: int = Field(ge=0, lt=MOST_TASKS)


class Removed(BaseModel):
    """A student, or without a number all who have answered nothing."""

    number: int | None = Field(default=None, ge=1, lt=1_000_000)


def open_class(opener: str, given: Opened) -> dict[str, Any]:
    """The code and the secret of a new class, or what keeps its sheet from being given to one. opener: the
    visitor's id.
    """
    days = (given.ends - time.time()) / DAY_SECONDS
    if not 0 < days <= MOST_DAYS:
        when = "in the past" if days <= 0 else f"in {days:,.0f} days"
        raise HTTPException(400, f"The sheet would end {when}; choose a day within a year.")
    try:
        problems = _checks.run(lambda job: given.sheet.problems(), place=opener, asker=Asker(opener))
    except (ValueError, OSError) as error:
        raise HTTPException(429, str(error)) from None
    if problems:
        return {"problems": problems}
    CLASSES.expire()
    with CLASSES.writing() as db:
        own = first(db, "SELECT count(*) FROM classes WHERE opener = ?", opener)
        if own >= CLASSES_OF_ONE:
            raise HTTPException(429, f"You have {own} classes open; delete one on its page first.")
        row = {"ends": given.ends, "sheet": given.sheet.model_dump_json()}
        return CLASSES.open(db, opener, in_force().classes, **row)


def _class(db: sqlite3.Connection, code: str) -> tuple[Sheet, float]:
    known = db.execute("SELECT sheet, ends FROM classes WHERE code = ?", (code,)).fetchone()
    if known is None:
        raise CLASSES.gone(code)
    return Sheet.model_validate_json(known[0]), known[1]


def _open_sheet(db: sqlite3.Connection, code: str) -> Sheet:
    sheet, ends = _class(db, code)
    if ends < time.time():
        raise HTTPException(403, "This sheet has ended; answers so far count.")
    return sheet


def sheet_of(code: str, _token: str) -> dict[str, Any]:
    """The sheet as students see it, and when it ends."""
    with CLASSES.reading() as db:
        sheet, ends = _class(db, code)
    return {**sheet.shown(), "ends": ends}


def join(code: str, _token: str, student: Student) -> dict[str, str]:
    """The token of a new student."""
    token, most = secrets.token_urlsafe(16), MOST_STUDENTS
    with CLASSES.writing() as db:
        _open_sheet(db, code)
        count = first(db, "SELECT count(*) FROM students WHERE code = ? AND token IS NOT NULL", code)
        if count >= most:
            raise HTTPException(429, f"{count} work on this sheet, the most there may be; ask who gave it.")
        values = (code, hashed(token), student.name.strip(), time.time())
        db.execute("INSERT INTO students (code, token, name, seen) VALUES (?, ?, ?, ?)", values)
    return {"token": token}


def _student(db: sqlite3.Connection, code: str, token: str) -> int:
    known = first(db, "SELECT id FROM students WHERE code = ? AND token = ?", code, hashed(token))
    if known is None:
        raise HTTPException(403, "This browser has not begun this sheet; reload.")
    return int(known)


def move(code: str, token: str, place: Place) -> None:
    """Notes at which stop a student is."""
    with CLASSES.writing() as db:
        student = _student(db, code, token)
        db.execute("UPDATE students SET at = ?, seen = ? WHERE id = ?", (place.at, time.time(), student))


def check_open(code: str, token: str, task: int) -> Sheet:
    """The sheet of a student who may answer a task now."""
    with CLASSES.reading() as db:
        sheet = _open_sheet(db, code)
        _student(db, code, token)
    sheet.task(task)
    return sheet


def answer(code: str, token: str, task: int, verdict: Verdict) -> None:
    """Keeps the first answer to a task, and the last; one that was right stays. Refuses what is too much."""
    with CLASSES.writing() as db:
        student, now = _student(db, code, token), time.time()
        held_by = (
            "SELECT total(length(CAST(answer AS BLOB))) FROM (SELECT student, answer FROM answers "
            "UNION ALL SELECT student, answer FROM firsts) WHERE "
        )
        own, mates = "student = ?", "student IN (SELECT id FROM students WHERE code = ?)"
        for whose, most, of, who in (
            ("Your answers", MOST_OF_A_STUDENT, own, student),
            ("All answers of the class", MOST_OF_A_CLASS, mates, code),
        ):
            if first(db, held_by + of, who) + len(verdict.kept.encode()) > most:
                said = (
                    f"{whose} would be more than {readable(most)}; hand in less, or ask who gave the sheet."
                )
                raise HTTPException(413, said)
        db.execute("UPDATE students SET seen = ? WHERE id = ?", (now, student))
        db.execute(
            "INSERT OR IGNORE INTO firsts SELECT student, task, answer, right FROM answers "
            "WHERE student = ? AND task = ? AND right IS NOT 1",
            (student, task),
        )
        db.execute(
            "INSERT INTO answers VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT DO UPDATE SET "
            "answer = excluded.answer, right = excluded.right, tries = tries + 1, at = excluded.at "
            "WHERE right IS NOT 1",
            (student, task, verdict.kept, verdict.right, now),
        )


def answers_of(code: str, token: str) -> dict[int, dict[str, Any]]:
    """A student's own answers by task, and what was said to those that are not wrong."""
    with CLASSES.reading() as db:
        answers = _answers(db, _student(db, code, token))
        sheet, _ = _class(db, code)
    for number, answer in answers.items():
        question = sheet.task(number).question
        answer["because"] = question.because if question and answer["right"] is not False else ""
    return answers


def _answers(db: sqlite3.Connection, student: int, after: float = 0.0) -> dict[int, dict[str, Any]]:
    """By task: the last answer, and in `first` the one that counts."""
    query = (
        "SELECT task, tries, answers.at, answers.answer, answers.right, "
        "ifnull(firsts.answer, answers.answer), iif(firsts.answer IS NULL, answers.right, firsts.right) "
        "FROM answers LEFT JOIN firsts USING (student, task) WHERE student = ? AND at >= ?"
    )

    def of(text: str, right: int | None) -> dict[str, Any]:
        return {"answer": text, "right": None if right is None else bool(right)}

    return {
        task: {**of(*both[:2]), "tries": tries, "at": at, "first": of(*both[2:])}
        for task, tries, at, *both in db.execute(query, (student, after))
    }


def progress(code: str, secret: str, since: float = 0.0) -> dict[str, Any]:
    """How the class goes, for the teacher: who is where, with all answers. since: the time of the last look;
    then only what is new is told, beside the numbers of all students.
    """
    now = time.time()
    after = since - MARGIN_SECONDS if 0 < since <= now else 0.0
    with CLASSES.reading(code, secret) as db:
        sheet, ends = _class(db, code)
        query = "SELECT id, name, at, seen, token FROM students WHERE code = ? ORDER BY id"
        rows = enumerate(db.execute(query, (code,)).fetchall(), start=1)
        numbered = [(number, row) for number, row in rows if row[4]]  # of whom was not removed
        students = [
            {"name": name, "number": number, "at": at, "seen": seen, "answers": _answers(db, student, after)}
            for number, (student, name, at, seen, _) in numbered
            if seen >= after
        ]
    known = {"numbers": [number for number, _ in numbered], "now": now, "students": students}
    if after:
        return known
    tasks = [
        {"title": task.title, "kind": task.kind, "question": task.question and task.question.model_dump()}
        for task in sheet.stops
    ]
    about = {"title": sheet.title, "ends": ends, "tasks": tasks, "lasts": not is_open_to_all()}
    return about | known


def remove(code: str, secret: str, student: Removed) -> None:
    """Removes students with their names and all answers; the numbers of the others stay."""
    nth = "id = (SELECT id FROM students WHERE code = ?1 ORDER BY id LIMIT 1 OFFSET ifnull(?2, 1) - 1)"
    whose = f"code = ?1 AND iif(?2, {nth}, id NOT IN (SELECT student FROM answers))"
    gone = (code, student.number)
    with CLASSES.writing(code, secret) as db:
        db.execute(f"DELETE FROM answers WHERE student IN (SELECT id FROM students WHERE {whose})", gone)
        db.execute(f"UPDATE students SET token = NULL, name = '' WHERE {whose}", gone)


def table(code: str, secret: str) -> str:
    """All answers as CSV: a row for each student and task."""
    known = progress(code, secret)
    rows: list[Any] = [["student", "task", "title", "first", "right", "last", "last_right", "tries", "time"]]
    rightness = {True: 1, False: 0}.get
    for student in known["students"]:
        for task, last in sorted(student["answers"].items()):
            when = datetime.fromtimestamp(last["at"], UTC).isoformat(timespec="seconds")
            both = [x for one in (last["first"], last) for x in (one["answer"], rightness(one["right"]))]
            title = known["tasks"][task]["title"]
            name = student["name"] or f"student {student['number']}"
            rows.append([name, task + 1, title, *both, last["tries"], when])
    return csv_text(rows)
