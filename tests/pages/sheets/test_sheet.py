"""A work sheet: what keeps it from being given, what students see of it, how it judges; and what is kept."""

import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException

from attention_lab.models.runs.processes import uptime
from attention_lab.pages.shared import code_rooms
from attention_lab.pages.sheets import store
from attention_lab.pages.sheets.sheet import Given, Sheet
from tests.limits import SetLimits

SECRET_WORDS = ("because it is", "rule", "right", "street > ")


def stop(
    title: str, link: str = "", *, question: dict[str, Any] | None = None, **settings: str
) -> dict[str, Any]:
    words = {"title": title, "line": 5, "link": link, "notes": f"Do {title}.", "hide": [], "at": []}
    return {**words, "question": question, "settings": settings}


CHOICE = stop(
    "Which",
    question={"ask": "Which?", "options": ["street", "=animal"], "right": 1, "because": "because it is"},
    hint="look\nlook again",
)
LAB = stop("Reach", "masks", rule="part = reach\nlayers >= 3")
NUMBER = stop("Head", "?head=0", rule="open.pattern query=it key=street > 0.5")
TEXT = stop("Say", write="20")


def sheet(*stops: dict[str, Any], **settings: str) -> Sheet:
    return Sheet.model_validate({"title": "A sheet", "about": "", "settings": settings, "stops": [*stops]})


SHEET = sheet(CHOICE, LAB, NUMBER, TEXT, stop("Read on"), pages="explore, masks", model="translator")


def soon(days: float = 1) -> float:
    return time.time() + days * store.DAY_SECONDS


def open_class(opener: str, ends: float) -> tuple[str, str]:
    opened = store.open_class(opener, store.Opened(sheet=SHEET, ends=ends))
    return opened["code"], opened["secret"]


def join(code: str, name: str) -> str:
    return store.join(code, "", store.Student(name=name))["token"]


@pytest.fixture
def opened() -> tuple[str, str]:
    return open_class("anna", soon())


@pytest.mark.parametrize(
    ("stops", "settings", "words"),
    [
        ([stop("Read")], {}, "it has no task: give a stop a question, a rule: or write:."),
        ([stop("A", rule="n = 1")], {}, "In “A”: it has a rule and opens no page; give it a link."),
        (
            [stop("A", "masks", rule="n : 1")],
            {},
            "In “A”: 'n : 1' is no rule of at most 500 characters; write n >= 4",
        ),
        ([stop("A", "masks", rule="part = mask")], {}, "its rules already hold where it opens"),
        ([stop("A", write="many")], {}, "write: 'many' is not a whole number from 1 to 2,000 of characters"),
        ([stop("A", "masks", rule="n = 3", write="9")], {}, "it asks for several things (link, text)"),
        ([stop("A", rule="\n".join(["n = 1"] * 101))], {}, "it has 101 rules; at most 100 are read"),
        *(
            ([stop("A", link, question=CHOICE["question"])], {}, "is no link to a page of this app, such as")
            for link in ("javascript:alert(1)", " masks", "//masks", "https://else.example/masks?n=4", "..")
        ),
        ([CHOICE], {"model": "translater"}, "model: there is no 'translater'; did you mean translator"),
        ([CHOICE], {"pages": "explore, maks"}, "pages: there is no 'maks'; did you mean masks"),
    ],
)
def test_what_nobody_could_work_on_is_named_with_its_line(
    stops: list[dict[str, Any]], settings: dict[str, str], words: str
) -> None:
    (problem,) = sheet(*stops, **settings).problems()
    assert words in problem["text"] and problem["line"] in (1, 5)


def test_what_ships_in_these_tests_can_be_given() -> None:
    assert SHEET.problems() == []


def test_students_see_neither_rules_nor_right_answers() -> None:
    shown = SHEET.shown()
    assert [task["kind"] for task in shown["tasks"]] == ["choice", "link", "link", "text", ""]
    assert shown["tasks"][0]["hints"] == ["look", "look again"] and shown["tasks"][3]["most"] == 20
    assert shown["pages"] == [{"link": "?", "title": "Explore"}, {"link": "masks", "title": "Masks"}]
    assert not any(word in str(shown) for word in SECRET_WORDS)


def judged(task: int, **given: Any) -> tuple[bool | None, str]:
    verdict = SHEET.judge(SHEET.task(task), Given(**given))
    return verdict.right, verdict.sentence


def test_answers_are_judged() -> None:
    assert judged(0, option=0) == (False, "That is not so; look again.")
    assert judged(0, option=1) == (True, "")
    assert judged(1, link="masks?part=reach&layers=2")[1].endswith("is 2; at least 3 is asked for.")
    assert judged(1, link="masks?part=reach&layers=3") == (True, "")
    assert judged(1, link="softmax") == (False, "This is Softmax and scale; the task is about Masks.")
    assert judged(2, link="?layer=0&head=3") == (True, "")
    assert judged(2, link="?layer=0&head=3&model=masked")[1] == (
        "This task is about the model translator; choose it again."
    )
    assert judged(2, link="?text=the+cat+sleeps")[1].startswith("This task needs its own model, text")
    assert judged(3, text=" because ") == (None, "")
    for task, given in ((0, {"option": 2}), (0, {"text": "a"}), (3, {"text": " "}), (3, {"text": "a" * 21})):
        with pytest.raises(HTTPException) as refused:
            judged(task, **given)
        assert refused.value.status_code == 400
    for task in (-1, 4, 99):
        with pytest.raises(HTTPException, match="has no task"):
            SHEET.task(task)


def count_of(table: str) -> int:
    with closing(store.CLASSES.connected()) as db:
        return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def hand_in(code: str, token: str, task: int, **given: Any) -> None:
    known = store.check_open(code, token, task)
    store.answer(code, token, task, known.judge(known.task(task), Given(**given)))


def test_answers_stay_and_the_teacher_sees_them(opened: tuple[str, str]) -> None:
    code, secret = opened
    ada, ben = join(code, '=HYPERLINK("x")'), join(code, "")
    hand_in(code, ada, 0, option=0)
    assert store.answers_of(code, ada)[0]["because"] == ""  # it would give the answer away
    hand_in(code, ada, 0, option=1)
    hand_in(code, ada, 0, option=0)  # what was right stays
    hand_in(code, ben, 3, text="one")
    hand_in(code, ben, 3, text="@two")
    store.move(code, ben, store.Place(at=2))
    own = store.answers_of(code, ada)
    assert own[0]["because"] == "because it is"
    assert (own[0]["answer"], own[0]["right"], own[0]["tries"]) == ("=animal", True, 2)
    progress = store.progress(code, secret)
    assert [(student["name"], student["at"]) for student in progress["students"]] == [
        ('=HYPERLINK("x")', 0), ("", 2),
    ]  # fmt: skip
    rows = store.table(code, secret).splitlines()
    assert rows[0] == '"student","task","title","first","right","last","last_right","tries","time"'
    assert rows[1].startswith('"\'=HYPERLINK(""x"")","1","Which","street","0","\'=animal","1","2",')
    assert rows[2].startswith('"student 2","4","Say","one","","\'@two","","2",')


def test_the_first_answer_is_kept_beside_the_last(opened: tuple[str, str]) -> None:
    code, secret = opened
    ada = join(code, "Ada")
    for text in ("one", "two", "three"):
        hand_in(code, ada, 3, text=text)
    for option in (1, 0):
        hand_in(code, ada, 0, option=option)
    for answers in (store.answers_of(code, ada), store.progress(code, secret)["students"][0]["answers"]):
        assert answers[3]["first"] == {"answer": "one", "right": None}
        assert (answers[3]["answer"], answers[3]["tries"]) == ("three", 3)
        assert answers[0]["first"] == {"answer": "=animal", "right": True}
        assert (answers[0]["answer"], answers[0]["right"], answers[0]["tries"]) == ("=animal", True, 1)
    store.remove(code, secret, store.Removed(number=1))
    assert count_of("answers") == count_of("firsts") == 0


def test_a_file_of_a_version_without_first_answers_opens_with_all_that_is_in_it(
    opened: tuple[str, str],
) -> None:
    code, secret = opened
    ada = join(code, "Ada")
    hand_in(code, ada, 0, option=0)
    with closing(store.CLASSES.connected()) as db:
        db.executescript("DROP TABLE firsts; PRAGMA user_version = 3")
    hand_in(code, ada, 0, option=1)
    (student,) = store.progress(code, secret)["students"]
    assert student["answers"][0]["first"] == {"answer": "street", "right": False}
    assert student["answers"][0]["right"] is True


def test_students_without_an_answer_are_removed_together(opened: tuple[str, str]) -> None:
    code, secret = opened
    tokens = [join(code, name) for name in ("Ada", "Ben", "", "Eve")]
    other, other_secret = open_class("ben", soon())
    join(other, "Fay")
    hand_in(code, tokens[1], 3, text="one")
    for _ in range(2):
        store.remove(code, secret, store.Removed())
        known = store.progress(code, secret)
        assert known["numbers"] == [2] and known["students"][0]["answers"][3]["answer"] == "one"
    assert store.progress(other, other_secret)["numbers"] == [1]
    with pytest.raises(HTTPException, match="has not begun this sheet"):
        store.check_open(code, tokens[3], 0)
    with closing(store.CLASSES.connected()) as db:
        assert not db.execute("SELECT 1 FROM students WHERE name IN ('Ada', 'Eve')").fetchall()


def test_only_the_secret_sees_a_class_and_only_its_token_a_student(
    opened: tuple[str, str], runs: Path
) -> None:
    code, secret = opened
    token, other = join(code, "Ada"), join(open_class("ben", soon())[0], "Eve")
    for wrong in ("", token, secret[:-1], secret + "x", open_class("ben", soon())[1]):
        for act in (store.progress, store.table, store.CLASSES.close):
            with pytest.raises(HTTPException) as refused:
                act(code, wrong)
            assert refused.value.status_code == 403
    for wrong in ("", secret, other):
        for ask in (
            lambda wrong=wrong: store.answers_of(code, wrong),
            lambda wrong=wrong: store.move(code, wrong, store.Place(at=1)),
            lambda wrong=wrong: store.check_open(code, wrong, 0),
        ):
            with pytest.raises(HTTPException) as refused:
                ask()
            assert refused.value.status_code == 403
    kept = b"".join(file.read_bytes() for file in (runs / ".classes").iterdir())
    assert secret.encode() not in kept and token.encode() not in kept


def test_classes_are_bounded(
    opened: tuple[str, str], set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _ = opened
    for ends, when in ((soon(-0.1), "in the past"), (soon(-3), "in the past"), (soon(400), "in 400 days")):
        with pytest.raises(HTTPException, match=f"The sheet would end {when}; choose a day"):
            open_class("anna", ends)
    monkeypatch.setattr(store, "CLASSES_OF_ONE", 1)
    with pytest.raises(HTTPException, match="You have 1 classes open; delete one"):
        open_class("anna", soon())
    set_limits(classes=1)
    monkeypatch.setattr(store, "MOST_STUDENTS", 1)
    with pytest.raises(HTTPException, match="1 classes are open, the most there may be"):
        open_class("ben", soon())
    token = join(code, "Ada")
    with pytest.raises(HTTPException, match="1 work on this sheet, the most there may"):
        join(code, "Ben")
    hand_in(code, token, 0, option=0)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 1.5 * store.DAY_SECONDS)
    with pytest.raises(HTTPException, match="has ended; answers so far count"):
        hand_in(code, token, 0, option=1)
    assert store.answers_of(code, token)[0]["tries"] == 1


@pytest.mark.parametrize("how", ["deleted", "a day after its end"])
def test_what_is_over_is_gone_with_all_that_was_in_it(
    how: str, opened: tuple[str, str], runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, secret = opened
    ada = join(code, "Ada Lovelace")
    for text in ("Bernoulli", "Babbage"):
        hand_in(code, ada, 3, text=text)
    if how == "deleted":
        store.CLASSES.close(code, secret)
    else:
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 2.1 * store.DAY_SECONDS)
        store.CLASSES.expire()
        counter = uptime()
        monkeypatch.setattr(code_rooms, "uptime", lambda: counter + 1.1 * store.DAY_SECONDS)
        store.CLASSES.expire()
    for ask in (
        lambda code: store.sheet_of(code, ""),
        lambda code: join(code, "Ben"),
        lambda code: store.progress(code, secret),
    ):
        with pytest.raises(HTTPException, match="There is no work sheet under"):
            ask(code)
    assert not any(count_of(table) for table in ("students", "answers", "firsts"))
    with closing(store.CLASSES.connected()) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    kept = b"".join(file.read_bytes() for file in (runs / ".classes").iterdir())
    assert b"Lovelace" not in kept and b"Bernoulli" not in kept
