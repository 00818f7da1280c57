"""What halls and classes are alike: how long they last, who may open how many, who closes them."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from attention_lab.models.runs.owners import PERSON, Visitor
from attention_lab.pages.hall import routes as hall_routes
from attention_lab.pages.hall import store as halls
from attention_lab.pages.hall.store import HALLS
from attention_lab.pages.shared import code_rooms, teachers, visitors
from attention_lab.pages.shared.browser import uploading
from attention_lab.pages.sheets import routes as sheet_routes
from attention_lab.pages.sheets import store as classes
from attention_lab.pages.sheets.sheet import Sheet, Verdict
from attention_lab.pages.sheets.store import CLASSES
from benchmarks.hall import RECORD

YEAR = 366 * 86_400.0
ASKED = {"id": "q1", "ask": "Which?", "options": ["a", "b"], "uncovered": False, "right": None}
STOP = {"title": "Say", "line": 1, "link": "", "notes": "", "question": None, "settings": {"write": "2000"}}
SHEET = {"title": "A sheet", "about": "", "settings": {}, "stops": [STOP]}


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


class Clock:
    """The machine's time, and the counter that nobody sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.up = time.time(), 1_000.0
        monkeypatch.setattr(time, "time", lambda: self.now)
        monkeypatch.setattr(code_rooms, "uptime", lambda: self.up)

    def run(self, seconds: float) -> None:
        self.now, self.up = self.now + seconds, self.up + seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def open_hall(opener: str = "anna", **changed: Any) -> tuple[str, str]:
    opened = halls.open_hall(opener, halls.Shared.model_validate(RECORD | changed))
    return opened["code"], opened["secret"]


def open_class(opener: str = "anna", seconds: float = 86_400.0) -> tuple[str, str]:
    sheet = Sheet.model_validate(SHEET)
    opened = classes.open_class(opener, classes.Opened(sheet=sheet, ends=time.time() + seconds))
    return opened["code"], opened["secret"]


def is_there(kind: code_rooms.Rooms, code: str) -> bool:
    kind.expire()
    return code in [known for known, _, _ in kind.rooms(PERSON)]


def answered(code: str, **given: Any) -> None:
    halls.answer(code, "", halls.Answer(question="q1", who="w", option=0))


@pytest.mark.parametrize("jump", [YEAR, -YEAR])
def test_a_clock_that_is_set_ends_no_room(clock: Clock, jump: float) -> None:
    (hall, _), (group, _) = open_hall(asked=ASKED), open_class()
    answered(hall)
    token = classes.join(group, "", classes.Student(name="Ada"))["token"]
    clock.run(60)
    clock.now += jump
    for _ in range(3):
        assert is_there(HALLS, hall) and is_there(CLASSES, group)
        clock.run(600)
    clock.now -= jump
    clock.run(7_200)
    assert is_there(HALLS, hall) and is_there(CLASSES, group)
    assert classes.check_open(group, token, 0).title == "A sheet"


def test_rooms_end_by_the_machines_own_counter_also_after_it_was_started_anew(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hall, _), (group, _) = open_hall(asked=ASKED), open_class(seconds=3_600)
    answered(hall)
    classes.join(group, "", classes.Student(name="Ada"))
    assert is_there(HALLS, hall) and is_there(CLASSES, group)
    clock.run(13 * 3_600)
    assert is_there(HALLS, hall) and is_there(CLASSES, group)
    monkeypatch.setattr(code_rooms, "boot", lambda: "another")
    clock.up = 5.0
    assert is_there(HALLS, hall) and is_there(CLASSES, group)
    clock.run(12 * 3_600)
    assert not is_there(HALLS, hall) and is_there(CLASSES, group)
    clock.run(13 * 3_600)
    assert not is_there(CLASSES, group)


def test_a_hall_that_nobody_uses_ends_after_an_hour(clock: Clock) -> None:
    (unused, _), (driven, _), (asked, _) = open_hall("a"), open_hall("b"), open_hall("c", asked=ASKED)
    answered(asked)
    halls.count_followers({driven: 0})
    assert is_there(HALLS, unused)
    clock.run(3_700)
    assert not is_there(HALLS, unused) and is_there(HALLS, driven) and is_there(HALLS, asked)
    halls.count_followers({})
    assert is_there(HALLS, driven)
    clock.run(3_700)
    assert not is_there(HALLS, driven)


@pytest.mark.parametrize(("for_all", "stays"), [(True, False), (False, True)])
def test_a_class_that_nobody_begins_ends_only_where_anybody_may_open_one(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, for_all: bool, stays: bool
) -> None:
    monkeypatch.setattr(classes, "is_open_to_all", lambda: for_all)
    (empty, _), (begun, _) = open_class("a"), open_class("b")
    classes.join(begun, "", classes.Student(name=""))
    assert is_there(CLASSES, empty)
    clock.run(3_700)
    assert is_there(CLASSES, empty) is stays and is_there(CLASSES, begun)


READ = """
import resource, signal, sys
from starlette.exceptions import HTTPException
from attention_lab.pages.hall import store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
code, secret = sys.argv[1:]
print(store.seen_by(code, secret, 0).record["title"], file=sys.stderr)
try:
    store.tell(code, secret, store.Shared(title="x", asked=None))
except Exception as error:
    print(type(error).__name__, file=sys.stderr)
"""


def test_a_full_disk_refuses_no_reading() -> None:
    code, secret = open_hall()
    command = [sys.executable, "-c", READ, code, secret]
    read, root = subprocess.PIPE, Path(__file__).parents[3]
    done = subprocess.run(command, cwd=root, stderr=read, text=True, check=False, timeout=120)
    assert done.stderr.splitlines() == ["A talk", "OperationalError"]
    open_hall()


# By address.


@pytest.fixture
def come(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Function that gives a browser of a class without a teacher, at an address."""
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    monkeypatch.setattr(teachers, "configured", lambda: "")
    for rate in (code_rooms.OPENINGS, code_rooms.MISSES, hall_routes.VOTING, sheet_routes.JOINING):
        rate._left.clear()
    code_rooms._known.clear()
    app = Starlette(routes=[*hall_routes.hall_routes(), *sheet_routes.sheet_routes()])
    yield lambda address: TestClient(app, client=(address, 1))


def test_one_address_opens_ten_rooms_an_hour_whatever_its_cookies(come: Any) -> None:
    near, far = come("192.0.2.1"), come("192.0.2.2")
    statuses = [near.post("/hall/", json=RECORD).status_code for _ in range(12)]
    assert statuses == [200] * 10 + [429] * 2
    assert far.post("/hall/", json=RECORD).status_code == 200
    refused = near.post("/class/", json={"sheet": SHEET, "ends": time.time() + 60})
    assert refused.status_code == 429 and "within an hour" in refused.text


def test_who_keeps_no_cookie_ends_nobodys_hall(come: Any) -> None:
    codes = [come("192.0.2.1").post("/hall/", json=RECORD).json()["code"] for _ in range(5)]
    assert [code for code, _, _ in HALLS.rooms(PERSON)] == codes


def test_a_class_room_begins_and_votes_and_one_address_does_not_fill_all(
    come: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    room = come("192.0.2.1")
    code, _ = open_class()
    hall, _ = open_hall(asked=ASKED)

    def begin() -> int:
        return room.post(f"/class/{code}/students", json={"name": ""}).status_code

    assert [begin() for _ in range(101)] == [200] * 100 + [429]
    for _ in range(33):
        now += 1.0
        assert {begin() for _ in range(3)} == {200}
    votes = [
        room.post(f"/hall/{hall}/answers", json={"question": "q1", "option": 0, "who": f"w{at}"}).status_code
        for at in range(210)
    ]
    assert votes == [204] * 200 + [429] * 10


def test_guesses_of_a_code_are_few_and_shut_nobody_out_of_a_known_room(
    come: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    code, _ = open_class()
    other, _ = open_class()
    near = come("192.0.2.1")
    assert near.get(f"/class/{code}/sheet").status_code == 200
    guesses = [near.get(f"/class/zz{at:03}/sheet").status_code for at in range(250)]
    assert guesses == [404] * 200 + [429] * 50
    assert near.get(f"/class/{code}/sheet").status_code == 200
    assert near.get(f"/class/{other}/sheet").status_code == 429
    assert come("192.0.2.2").get(f"/class/{other}/sheet").status_code == 200
    now += 5.0
    assert near.get(f"/class/{other}/sheet").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", "/hall/{code}/pictures/" + "0" * 32, 403),
        ("PUT", "/hall/{code}", 403),
        ("PUT", "/hall/{code}/notes", 403),
        ("PUT", "/hall/zzzzz/pictures/" + "0" * 32, 404),
        ("PUT", "/class/{code}/answers/0", 404),
    ],
)
def test_who_may_not_write_is_refused_before_anything_is_read(
    come: Any, method: str, path: str, status: int
) -> None:
    code, _ = open_hall()
    heard: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        raise AssertionError("the body was asked for")

    async def send(message: Any) -> None:
        heard.append(message)

    address = path.format(code=code)
    scope = {"type": "http", "method": method, "path": address, "raw_path": address.encode(), "headers": []}
    scope |= {"query_string": b"", "client": ("192.0.2.1", 1), "root_path": "", "scheme": "http"}
    scope |= {"http_version": "1.1", "server": ("lab", 80)}
    asyncio.run(come("192.0.2.1").app(scope, receive, send))
    assert heard[0]["status"] == status


def test_bodies_on_their_way_are_counted_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "MOST_OF_A_VISITOR", 100_000)
    monkeypatch.setattr(uploading, "_ROOM", 0)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"x" * 60_000, "more_body": True}

    async def come() -> None:
        with uploading.Body("a", receive) as first, uploading.Body("a", receive) as second:
            await first.receive()
            with pytest.raises(uploading.RefusedError, match="not fit beside yours of 60 kB"):
                await second.receive()
            with uploading.Body("b", receive) as other:
                await other.receive()
        assert not uploading._coming

    asyncio.run(come())


# Who closes, clears and removes.


def test_an_owner_and_a_teacher_close_rooms_without_the_secret() -> None:
    (hers, _), (his, _) = open_hall("anna"), open_hall("ben")
    anna, teacher = Visitor("anna"), Visitor("t", all_rights=True)
    assert [room[:2] for room in HALLS.rooms(anna)] == [(hers, "A talk")]
    assert not HALLS.rooms(Visitor(""))
    HALLS.close_as(anna, his)
    assert is_there(HALLS, his)
    HALLS.close_as(anna, hers)
    HALLS.close_as(teacher, his)
    assert not HALLS.rooms(teacher)


def test_votes_are_cleared_of_the_question_that_is_asked() -> None:
    code, secret = open_hall(asked=ASKED)
    answered(code)
    other = ASKED | {"id": "q2"}
    halls.tell(code, secret, halls.Shared.model_validate(RECORD | {"asked": other}))
    halls.answer(code, "", halls.Answer(question="q2", who="w", option=1))
    with pytest.raises(HTTPException):
        halls.clear(code, "wrong")
    halls.clear(code, secret)
    assert halls.seen_by(code, "", 0).counts == [0, 0]
    assert '"Which?","a","","1","0"' in halls.table(code, secret)


def join(code: str, name: str) -> str:
    return classes.join(code, "", classes.Student(name=name))["token"]


def test_a_student_who_is_removed_is_gone_and_the_others_keep_their_numbers() -> None:
    code, secret = open_class()
    tokens = [join(code, name) for name in ("Ada", "", "Eve")]
    for token in tokens:
        classes.answer(code, token, 0, Verdict(None, "", "", "text"))
    classes.remove(code, secret, classes.Removed(number=1))
    known = classes.progress(code, secret)
    assert known["numbers"] == [2, 3]
    assert [(student["number"], student["name"]) for student in known["students"]] == [(2, ""), (3, "Eve")]
    assert "Ada" not in classes.table(code, secret) and "student 2" in classes.table(code, secret)
    with pytest.raises(HTTPException, match="has not begun"):
        classes.check_open(code, tokens[0], 0)
    with pytest.raises(HTTPException, match="open the teacher's own link"):
        classes.remove(code, "wrong", classes.Removed(number=2))


def test_nobody_begins_a_sheet_that_has_ended(clock: Clock) -> None:
    code, _ = open_class(seconds=60)
    token = join(code, "Ada")
    clock.run(61)
    for late in (lambda: join(code, "Ben"), lambda: classes.check_open(code, token, 0)):
        with pytest.raises(HTTPException, match="This sheet has ended; answers so far count") as refused:
            late()
        assert refused.value.status_code == 403
    assert classes.sheet_of(code, "")["title"] == "A sheet"


def test_answers_are_bounded_of_a_student_and_of_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classes, "MOST_OF_A_STUDENT", 3_000)
    monkeypatch.setattr(classes, "MOST_OF_A_CLASS", 5_000)
    code, _ = open_class()
    ada, ben = join(code, "Ada"), join(code, "Ben")

    def give(token: str, task: int, size: int) -> None:
        classes.answer(code, token, task, Verdict(None, "", "", "é" * (size // 2)))

    give(ada, 0, 2_000)
    with pytest.raises(HTTPException, match=r"Your answers would be more than 3\.0 kB; hand in less"):
        give(ada, 1, 2_000)
    give(ben, 0, 2_000)
    give(ada, 1, 1_000)
    with pytest.raises(HTTPException, match=r"All answers of the class would be more than 5\.0 kB"):
        give(ben, 1, 1_000)


def test_the_teacher_is_told_what_is_new(clock: Clock) -> None:
    code, secret = open_class()
    ada, _ = join(code, "Ada"), join(code, "Ben")
    classes.answer(code, ada, 0, Verdict(None, "", "", "first"))
    whole = classes.progress(code, secret)
    assert [student["name"] for student in whole["students"]] == ["Ada", "Ben"] and whole["tasks"]
    clock.run(10)
    since = classes.progress(code, secret, whole["now"])["now"]
    news = classes.progress(code, secret, since)
    assert news == {"numbers": [1, 2], "now": clock.now, "students": []}
    classes.move(code, ada, classes.Place(at=0))
    clock.now -= 2.0  # set back a little
    (moved,) = classes.progress(code, secret, news["now"] - 3)["students"]
    assert moved["name"] == "Ada" and moved["answers"] == {}
    clock.now -= 3_600
    assert classes.progress(code, secret, news["now"])["tasks"] == whole["tasks"]
