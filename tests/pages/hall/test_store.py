"""What is kept of halls: who may write, what is bounded, what is counted, and by two processes at once."""

import gzip
import hashlib
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from attention_lab.models.runs.processes import Identity, born
from attention_lab.pages.hall import store
from attention_lab.pages.shared.rooms import CODE_LENGTH, LETTERS, RefusedError
from benchmarks.hall import RECORD
from tests.limits import SetLimits

ASKED = {"id": "q1", "ask": "Which?", "options": ["=street", "animal"], "uncovered": False, "right": None}
UNCOVERED = ASKED | {"uncovered": True, "right": 1}


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


@pytest.fixture
def hall() -> tuple[str, str]:
    return store.open_hall("anna", RECORD)


def test_a_hall_is_what_was_told_last(hall: tuple[str, str]) -> None:
    code, secret = hall
    assert len(code) == CODE_LENGTH and set(code) <= set(LETTERS)
    assert store.seen_by(code, "", 0).record == RECORD
    store.tell(code, secret, RECORD | {"at": 3})
    store.tell_notes(code, secret, ["one", "two"])
    seen = store.seen_by(code, secret, 0)
    assert seen.record["at"] == 3 and seen.notes == ["one", "two"] and seen.counts is None


def test_only_the_secret_drives(hall: tuple[str, str], runs: Path) -> None:
    code, secret = hall
    own = RECORD | {"title": "another's"}
    for wrong in ("", secret[:-1], secret + "x", store.open_hall("ben", RECORD)[1]):
        for act in (
            lambda wrong=wrong: store.tell(code, wrong, own),
            lambda wrong=wrong: store.tell_notes(code, wrong, []),
            lambda wrong=wrong: store.keep(code, wrong, "f", b"x"),
            lambda wrong=wrong: store.press(code, wrong, {"type": "go"}),
            lambda wrong=wrong: store.table(code, wrong),
            lambda wrong=wrong: store.check(code, wrong),
            lambda wrong=wrong: store.HALLS.close(code, wrong),
            *([lambda wrong=wrong: store.seen_by(code, wrong, 0)] if wrong else []),
        ):
            with pytest.raises(RefusedError) as refused:
                act()
            assert refused.value.status == 403
    assert store.seen_by(code, "", 0).record == RECORD
    assert secret.encode() not in b"".join(file.read_bytes() for file in (runs / ".halls").iterdir())


def test_what_has_ended_is_gone_with_all_that_was_in_it(hall: tuple[str, str]) -> None:
    code, secret = hall
    store.tell(code, secret, RECORD | {"asked": ASKED})
    store.answer(code, "q1", "w", 1)
    store.keep(code, secret, "f", b"x")
    store.press(code, secret, {"type": "go"})
    store.count_followers({code: 2})
    store.HALLS.close(code, secret)
    with pytest.raises(RefusedError, match=f"There is no talk under '{code}': it has ended"):
        store.seen_by(code, "", 0)
    with closing(store.HALLS.connected()) as db:
        for table in ("pictures", "presses", "questions", "answers", "followers"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_halls_are_bounded_in_number_and_age(
    hall: tuple[str, str], set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [hall, *(store.open_hall("anna", RECORD) for _ in range(store.HALLS_OF_ONE))]
    with pytest.raises(RefusedError):  # the first of them made room
        store.seen_by(own[0][0], "", 0)
    set_limits(halls=store.HALLS_OF_ONE)
    with pytest.raises(RefusedError, match="3 halls are open, and at most 3 may be") as refused:
        store.open_hall("ben", RECORD)
    assert refused.value.status == 429
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 25 * 3_600)
    store.open_hall("ben", RECORD)
    with pytest.raises(RefusedError):
        store.seen_by(own[-1][0], "", 0)


def test_pictures_are_kept_once_and_the_oldest_make_room(
    hall: tuple[str, str], set_limits: SetLimits
) -> None:
    set_limits(hall_mb=16)
    code, secret = hall
    contents = [hashlib.shake_128(bytes([at])).digest(6_000_000) for at in range(3)]
    for at, content in enumerate(contents):
        store.keep(code, secret, f"{at}", content)
    store.keep(code, secret, "2", b"another")
    assert gzip.decompress(store.picture(code, "2")) == contents[2]
    assert gzip.decompress(store.picture(code, "1")) == contents[1]
    with pytest.raises(RefusedError, match="not kept any more"):
        store.picture(code, "0")


def test_answers_are_counted_once_a_browser_and_late_ones_apart(hall: tuple[str, str]) -> None:
    code, secret = hall
    with pytest.raises(RefusedError, match="not asked"):
        store.answer(code, "q1", "a", 0)
    store.tell(code, secret, RECORD | {"asked": ASKED})
    for who, option in (("a", 0), ("b", 1), ("a", 1)):
        store.answer(code, "q1", who, option)
    for wrong in (-1, 2):
        with pytest.raises(RefusedError, match="no such option"):
            store.answer(code, "q1", "c", wrong)
    assert store.seen_by(code, "", 0).counts == [0, 2]
    store.tell(code, secret, RECORD | {"asked": UNCOVERED})
    store.answer(code, "q1", "c", 0)
    with pytest.raises(RefusedError, match="yours is counted as it was"):
        store.answer(code, "q1", "a", 0)
    assert store.seen_by(code, "", 0).counts == [1, 2]
    store.tell(code, secret, RECORD | {"at": 4})  # asked no more, and still answered
    store.answer(code, "q1", "d", 1)
    assert store.table(code, secret).splitlines() == [
        "question,option,right,answers,late", "Which?,'=street,0,1,1", "Which?,animal,1,3,1",
    ]  # fmt: skip


def test_answers_and_questions_are_bounded(
    hall: tuple[str, str], set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, secret = hall
    set_limits(hall_listeners=3)
    monkeypatch.setattr(store, "ANSWERS_A_SECOND", 4)
    monkeypatch.setattr(store, "QUESTIONS", 2)
    for at in range(2):
        store.tell(code, secret, RECORD | {"asked": ASKED | {"id": f"q{at}"}})
    with pytest.raises(RefusedError, match="At most 2 questions"):
        store.tell(code, secret, RECORD | {"asked": ASKED | {"id": "q9"}})
    for who in "abc":
        store.answer(code, "q1", who, 0)
    with pytest.raises(RefusedError, match="At most 3 answers are counted"):
        store.answer(code, "q1", "d", 0)
    store.answer(code, "q0", "a", 0)
    with pytest.raises(RefusedError, match="sent again in a moment"):
        store.answer(code, "q0", "b", 0)


def test_presses_are_heard_in_order_and_forgotten(
    hall: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, secret = hall
    for at in range(3):
        store.press(code, secret, {"type": "to", "stop": at})
    (first, _), *others = store.seen_by(code, secret, 0).presses
    assert [pressed["stop"] for _, pressed in others] == [1, 2]
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
    store.answer(code, "q1", f"{who}{at}", at % 2)
    store.press(code, secret, {"type": "to", "stop": at, "from": who})
"""


def test_two_processes_write_and_none_loses_anything(
    hall: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, secret = hall
    store.tell(code, secret, RECORD | {"asked": ASKED})
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, code, secret, who], cwd=Path(__file__).parents[3])
        for who in ("a", "b")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    seen = store.seen_by(code, secret, 0)
    assert seen.counts == [40, 40]
    for who in ("a", "b"):
        assert [p["stop"] for _, p in seen.presses if p["from"] == who] == list(range(40))
