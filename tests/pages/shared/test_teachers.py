"""Who is a teacher: by a secret that is nowhere, for some hours, and not by guessing."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from attention_lab.pages.shared import teachers

SECRET = "correct horse"


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    monkeypatch.setenv(teachers.HASH, teachers.hashed(SECRET))
    return tmp_path


def sign_in(visitor: str, secret: str = SECRET) -> None:
    """Signs in, and comes for the rights under the same name."""
    assert teachers.redeem(teachers.sign_in(visitor, secret), visitor)
    teachers.record_sign_in(visitor)


@pytest.fixture
def pass_(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Function that lets seconds pass, by the machine's own counter."""
    now = [teachers.uptime()]
    monkeypatch.setattr(teachers, "uptime", lambda: now[0])

    def wait(seconds: float) -> None:
        now[0] += seconds

    return wait


def test_the_hash_is_salted_and_the_secret_is_nowhere() -> None:
    first, second = teachers.hashed(SECRET), teachers.hashed(SECRET)
    assert first != second and SECRET not in first
    assert teachers.hashed(SECRET, bytes.fromhex(first.split(":")[1])) == first
    with pytest.raises(ValueError, match="5 characters are no secret; take 10 to 200"):
        teachers.hashed("12345")


def test_the_right_secret_gives_rights_until_they_are_given_back(root: Path) -> None:
    assert not teachers.knows("anna")
    sign_in("anna")
    assert teachers.knows("anna") and not teachers.knows("ben") and not teachers.knows("")
    assert all(SECRET.encode() not in path.read_bytes() for path in root.rglob("*") if path.is_file())
    teachers.sign_out("anna")
    assert not teachers.knows("anna")


def test_rights_end_after_their_hours_and_with_another_secret(
    root: Path, monkeypatch: pytest.MonkeyPatch, pass_: Callable[[float], None]
) -> None:
    sign_in("anna")
    path = root / ".teachers" / "anna"
    pass_(teachers.HOURS * 3_600 - 1)
    assert teachers.knows("anna")
    pass_(2)
    assert not teachers.knows("anna")
    sign_in("anna")
    assert teachers.knows("anna")
    monkeypatch.setenv(teachers.HASH, teachers.hashed("another secret"))
    assert not teachers.knows("anna")
    for odd in ("1", "{}", '{"proof": 1}', path.read_text().replace('"up": ', '"up": 1')):  # made by hand
        path.write_text(odd)
        assert not teachers.knows("anna")
    monkeypatch.delenv(teachers.HASH)
    assert not teachers.knows("anna")


def test_wrong_secrets_are_counted_for_one_and_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teachers, "ATTEMPTS", 2)
    monkeypatch.setattr(teachers, "ATTEMPTS_IN_ALL", 3)
    for wrong in ("wrong horse", "short"):
        with pytest.raises(ValueError, match="this is not the teacher's secret; type it again"):
            teachers.sign_in("ben", wrong)
    with pytest.raises(ValueError) as refused:
        teachers.sign_in("ben", SECRET)
    assert str(refused.value) == (
        "2 wrong secrets came from you and 2 from all within 10 minutes, the limits are 2 and 3; wait 10 "
        "minutes"
    )
    assert not teachers.knows("ben")
    teachers.sign_in("anna", SECRET)
    with pytest.raises(ValueError, match="this is not the teacher's secret"):
        teachers.sign_in("carl", "x" * 1_000_000)
    with pytest.raises(ValueError, match="0 wrong secrets came from you and 3 from all"):
        teachers.sign_in("dora", SECRET)


def test_old_attempts_are_forgotten(monkeypatch: pytest.MonkeyPatch, pass_: Callable[[float], None]) -> None:
    monkeypatch.setattr(teachers, "ATTEMPTS", 1)
    with pytest.raises(ValueError, match="not the teacher's secret"):
        teachers.sign_in("ben", "wrong horse")
    pass_(teachers.WINDOW_SECONDS + 1)
    sign_in("ben")
    assert teachers.knows("ben")


def test_the_hash_may_lie_in_a_file_and_what_is_none_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "teacher.txt").write_text(teachers.hashed(SECRET) + "\n")
    monkeypatch.setenv(teachers.HASH, str(tmp_path / "teacher.txt"))
    sign_in("anna")
    assert teachers.knows("anna")
    (tmp_path / "teacher.txt").write_text(SECRET)
    with pytest.raises(ValueError, match="ATTENTION_LAB_TEACHER holds no hash of a secret; `make teacher`"):
        teachers.sign_in("anna", SECRET)
    assert not teachers.knows("anna")
    monkeypatch.setenv(teachers.HASH, str(tmp_path / "none.txt"))
    with pytest.raises(ValueError, match="ATTENTION_LAB_TEACHER names no file that can be read; `make teach"):
        teachers.configured()
    monkeypatch.setenv(teachers.HASH, "")
    with pytest.raises(ValueError, match="nobody can sign in: start the server with a teacher's secret"):
        teachers.sign_in("anna", SECRET)


def test_who_keeps_no_cookie_cannot_sign_in() -> None:
    with pytest.raises(ValueError, match="and allow cookies"):
        teachers.sign_in("", SECRET)


@pytest.mark.parametrize("hours", [-1, 1, -30 * 24, 30 * 24])
def test_setting_the_clock_moves_no_lock_and_no_right(
    monkeypatch: pytest.MonkeyPatch, pass_: Callable[[float], None], hours: float
) -> None:
    monkeypatch.setattr(teachers, "ATTEMPTS", 1)
    sign_in("anna")
    with pytest.raises(ValueError, match="not the teacher's secret"):
        teachers.sign_in("ben", "wrong horse")
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + hours * 3_600)
    with pytest.raises(ValueError, match=r"1 wrong secrets came from you .*; wait 10 minutes"):
        teachers.sign_in("ben", SECRET)
    assert teachers.knows("anna")
    pass_(teachers.HOURS * 3_600 + 1)
    assert not teachers.knows("anna")


def test_a_machine_that_was_started_anew_keeps_no_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    sign_in("anna")
    monkeypatch.setattr(teachers, "boot", lambda: "another")
    assert not teachers.knows("anna")


def test_a_code_holds_once_for_its_visitor_and_not_long(pass_: Callable[[float], None]) -> None:
    code = teachers.sign_in("anna", SECRET)
    assert not teachers.knows("anna")
    assert not teachers.redeem(code, "ben") and not teachers.redeem("x", "anna")
    assert teachers.redeem(code, "anna") and not teachers.redeem(code, "anna")
    late = teachers.sign_in("anna", SECRET)
    pass_(teachers.CODE_SECONDS + 1)
    assert not teachers.redeem(late, "anna")
