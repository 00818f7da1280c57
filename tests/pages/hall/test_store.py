"""What is kept of halls: who may write, what is bounded, what is counted, and by two processes at once."""

import gzip
import hashlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from starlette.exceptions import HTTPException

from attention_lab.models.runs.processes import Identity, born, uptime
from attention_lab.pages.hall import store
from attention_lab.pages.hall.store import HALLS, Notes, Press, Shared
from attention_lab.pages.shared import code_rooms
from attention_lab.pages.shared.code_rooms import CODE_LENGTH, LETTERS, Text
from benchmarks.hall import RECORD
from tests.limits import SetLimits

ASKED = {"id": "q1", "ask": "Which?", "options": ["=street", "animal"], "uncovered": False, "right": None}
UNCOVERED = ASKED | {"uncovered": True, "right": 1}


def record(**changed: Any) -> Shared:
    return Shared.model_validate(RECORD | changed)


def open_hall(opener: str) -> tuple[str, str]:
    opened = store.open_hall(opener, record())
    return opened["code"], opened["secret"]


def answer(code: str, question: str, who: str, option: int) -> None:
    store.answer(code, "", store.Answer(question=question, who=who, option=option))


def pressed(**more: Any) -> Press:
    return Press.model_validate({"type": "go"} | more)


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


@pytest.fixture
def hall() -> tuple[str, str]:
    return open_hall("anna")


def test_a_hall_is_what_was_told_last(hall: tuple[str, str]) -> None:
    code, secret = hall
    assert len(code) == CODE_LENGTH and set(code) <= set(LETTERS)
    assert store.seen_by(code, "", 0).record == RECORD
    store.tell(code, secret, record(at=3))
    store.tell_notes(code, secret, Notes(notes=["one", "two"]))
    seen = store.seen_by(code, secret, 0)
    assert seen.record["at"] == 3 and seen.notes == ["one", "two"] and seen.counts is None


def test_only_the_secret_drives(hall: tuple[str, str], runs: Path) -> None:
    code, secret = hall
    own = record(title="another's")
    for wrong in ("", secret[:-1], secret + "x", open_hall("ben")[1]):
        for act in (
            lambda wrong=wrong: store.tell(code, wrong, own),
            lambda wrong=wrong: store.tell_notes(code, wrong, Notes(notes=[])),
            lambda wrong=wrong: store.keep(code, wrong, "f", b"x"),
            lambda wrong=wrong: store.press(code, wrong, pressed()),
            lambda wrong=wrong: store.table(code, wrong),
            lambda wrong=wrong: HALLS.drawn_code(code, wrong, Text(text="x")),
            lambda wrong=wrong: HALLS.close(code, wrong),
            *([lambda wrong=wrong: store.seen_by(code, wrong, 0)] if wrong else []),
        ):
            with pytest.raises(HTTPException) as refused:
                act()
            assert refused.value.status_code == 403
    assert store.seen_by(code, "", 0).record == RECORD
    assert secret.encode() not in b"".join(file.read_bytes() for file in (runs / ".halls").iterdir())


def test_what_has_ended_is_gone_with_all_that_was_in_it(hall: tuple[str, str]) -> None:
    code, secret = hall
    store.tell(code, secret, record(asked=ASKED))
    answer(code, "q1", "w", 1)
    store.keep(code, secret, "f", b"x")
    store.press(code, secret, pressed())
    store.count_followers({code: 2})
    HALLS.close(code, secret)
    with pytest.raises(HTTPException, match=f"There is no talk under '{code}': ask for its link"):
        store.seen_by(code, "", 0)
    with HALLS.reading() as db:
        for table in ("pictures", "presses", "questions", "answers", "followers"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_halls_are_bounded_in_number_and_age(
    hall: tuple[str, str], set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [hall, *(open_hall("anna") for _ in range(store.HALLS_OF_ONE))]
    with pytest.raises(HTTPException):  # the first of them made room
        store.seen_by(own[0][0], "", 0)
    set_limits(halls=store.HALLS_OF_ONE)
    with pytest.raises(HTTPException, match="3 halls are open, the most there may be") as refused:
        open_hall("ben")
    assert refused.value.status_code == 429
    now = uptime()
    monkeypatch.setattr(code_rooms, "uptime", lambda: now + 25 * 3_600)
    open_hall("ben")
    with pytest.raises(HTTPException):
        store.seen_by(own[-1][0], "", 0)


def test_pictures_are_kept_once_and_the_oldest_make_room(
    hall: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PICTURE_BYTES", 16_000_000)
    code, secret = hall
    contents = [hashlib.shake_128(bytes([at])).digest(6_000_000) for at in range(3)]
    for at, content in enumerate(contents):
        store.keep(code, secret, f"{at}", content)
    store.keep(code, secret, "2", b"another")
    assert gzip.decompress(store.picture(code, "2")) == contents[2]
    assert gzip.decompress(store.picture(code, "1")) == contents[1]
    with pytest.raises(HTTPException, match="gone; wait"):
        store.picture(code, "0")


def test_answers_are_counted_once_a_browser_and_late_ones_apart(hall: tuple[str, str]) -> None:
    code, secret = hall
    with pytest.raises(HTTPException, match="not asked"):
        answer(code, "q1", "a", 0)
    store.tell(code, secret, record(asked=ASKED))
    for who, option in (("a", 0), ("b", 1), ("a", 1)):
        answer(code, "q1", who, option)
    for wrong in (-1, 2):
        with pytest.raises(HTTPException, match="no such option"):
            answer(code, "q1", "c", wrong)
    assert store.seen_by(code, "", 0).counts == [0, 2]
    store.tell(code, secret, record(asked=UNCOVERED))
    answer(code, "q1", "c", 0)
    with pytest.raises(HTTPException, match="yours still counts"):
        answer(code, "q1", "a", 0)
    assert store.seen_by(code, "", 0).counts == [1, 2]
    store.tell(code, secret, record(at=4))  # asked no more, and still answered
    answer(code, "q1", "d", 1)
    assert store.table(code, secret).splitlines() == [
        '"question","option","right","answers","late"',
        '"Which?","\'=street","0","1","1"', '"Which?","animal","1","3","1"',
    ]  # fmt: skip


def test_answers_and_questions_are_bounded(
    hall: tuple[str, str], set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, secret = hall
    monkeypatch.setattr(store, "MOST_LISTENERS", 3)
    monkeypatch.setattr(store, "QUESTIONS", 2)
    for at in range(2):
        store.tell(code, secret, record(asked=ASKED | {"id": f"q{at}"}))
    with pytest.raises(HTTPException, match="At most 2 questions"):
        store.tell(code, secret, record(asked=ASKED | {"id": "q9"}))
    for who in "abc":
        answer(code, "q1", who, 0)
    with pytest.raises(HTTPException, match="At most 3 answers are counted"):
        answer(code, "q1", "d", 0)
    answer(code, "q0", "a", 0)


def test_presses_are_heard_in_order_and_forgotten(
    hall: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, secret = hall
    for at in range(3):
        store.press(code, secret, pressed(type="to", stop=at))
    (first, _), *others = store.seen_by(code, secret, 0).presses
    assert [press["stop"] for _, press in others] == [1, 2]
    assert store.seen_by(code, secret, first).presses == others
    assert store.seen_by(code, secret, first).last == others[-1][0]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 11)
    assert store.seen_by(code, secret, 0).presses == []


def test_followers_are_those_of_all_processes_that_live(
    hall: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _ = hall
    other = subprocess.Popen(["sleep", "60"])
    identity = Identity(other.pid, psutil.Process(other.pid).create_time(), born(other.pid))
    store.count_followers({code: 3, "gone2": 5})
    with monkeypatch.context() as there:
        there.setattr(store, "this_process", lambda: identity)
        store.count_followers({code: 20})
    assert store.seen_by(code, "", 0).following == 23
    other.kill()
    other.wait()
    assert store.seen_by(code, "", 0).following == 3
    store.count_followers({})
    assert store.seen_by(code, "", 0).following == 0


WRITER = """
import sys
from attention_lab.pages.hall import store
code, secret, who = sys.argv[1:]
for at in range(40):
    store.answer(code, "", store.Answer(question="q1", who=f"{who}{at}", option=at % 2))
    pressed = store.Press.model_validate({"type": "to", "stop": at, "who": who})
    store.press(code, secret, pressed)
"""


def test_two_processes_write_and_none_loses_anything(
    hall: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, secret = hall
    store.tell(code, secret, record(asked=ASKED))
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, code, secret, who], cwd=Path(__file__).parents[3])
        for who in ("a", "b")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    seen = store.seen_by(code, secret, 0)
    assert seen.counts == [40, 40]
    for who in ("a", "b"):
        assert [p["stop"] for _, p in seen.presses if p["who"] == who] == list(range(40))
