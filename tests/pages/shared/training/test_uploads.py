"""Files that visitors hand in: whose they are, how many, how large, how long."""

import errno
import os
import re
import time
from pathlib import Path

import pytest

from attention_lab.models.byte_units import MB
from attention_lab.models.runs.owners import Visitor
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.training import settings, tasks_on_offer, uploads
from tests.limits import SetLimits

ANNA, BEN, STRANGER = Visitor("anna"), Visitor("ben"), Visitor()


@pytest.fixture
def come(monkeypatch: pytest.MonkeyPatch):
    """Function that lets another visitor ask from now on."""
    return lambda visitor: monkeypatch.setattr(visitors, "visitor", lambda: visitor)


def grow_old(name: str, days: float) -> None:
    then = time.time() - days * 86_400
    os.utime(uploads.folder() / name, (then, then))


def test_a_sentence_calls_a_file_what_its_owner_knows_it_by() -> None:
    name = f"{'0f' * 32}.csv"
    told = uploads.without_names(f"'{name}' has no line; 'text.csv' has")
    assert told == f"{uploads.THE_FILE} has no line; 'text.csv' has"
    assert uploads.without_names(f"{name} is empty") == f"{uploads.THE_FILE} is empty"


def test_a_file_keeps_its_own_names() -> None:
    name = uploads.keep(b"text;label\n1;2", "../reviews <b>.csv")
    assert uploads.called(name) == "reviews <b>.csv"
    assert uploads.keep(b"text;label\n1;2", "copy.csv") == name
    assert uploads.called(name) == "copy.csv (also reviews <b>.csv)"
    assert [file.called for file in uploads.mine()] == [("copy.csv", "reviews <b>.csv")]
    assert uploads.without_names(f"'{name}' has no line") == "'copy.csv' has no line"
    uploads.delete(name)
    assert not list(uploads.folder().iterdir())


def test_uploads_are_kept_once_by_their_content() -> None:
    first = uploads.keep(b"some text", "mine.txt")
    assert first == uploads.keep(b"some text", "../../yours.txt")
    assert uploads.path_of(first).read_bytes() == b"some text"
    assert uploads.name_of(str(uploads.path_of(first))) == first
    assert uploads.name_of("/etc/passwd") == uploads.name_of(None) == ""


def test_a_file_is_its_owners_alone_by_name_and_by_path(come, root: Path) -> None:
    come(ANNA)
    name = uploads.keep(b"her diary", "diary.txt")
    path = uploads.path_of(name)
    assert path.parent == root / "uploads" / "anna"
    come(BEN)
    assert not uploads.FILE.fits(name) and uploads.name_of(str(path)) == ""
    with pytest.raises(ValueError, match="is no longer here; choose it again"):
        uploads.path_of(name)
    uploads.delete(name)
    assert path.is_file() and uploads.mine() == []
    assert uploads.path_of(uploads.keep(b"her diary", "diary.txt")) != path  # he may have the same text
    come(STRANGER)
    assert not uploads.FILE.fits(name)
    with pytest.raises(ValueError, match="your browser keeps no cookie of this server, so a file"):
        uploads.keep(b"text", "a.txt")


def test_settings_name_the_file_of_whoever_opens_them(come) -> None:
    info = next(i for i in tasks_on_offer.tasks().values() if any(option.file for option in i.options))
    field = next(option.name for option in info.options if option.file)
    come(ANNA)
    values = {**settings.defaults(info), field: uploads.keep(b"her text", "a.txt")}
    assert settings.with_paths(info, values)[field] == str(uploads.folder(ANNA) / values[field])
    come(BEN)
    with pytest.raises(ValueError, match="the file is no longer here; choose it again"):
        settings.with_paths(info, values)


def test_an_owner_lists_and_deletes(come) -> None:
    come(ANNA)
    first, second = (uploads.keep(text, "a.txt") for text in (b"one", b"fifteen letters"))
    grow_old(first, 4)
    assert uploads.mine() == [uploads.Upload(second, 15, 14), uploads.Upload(first, 3, 10)]
    uploads.delete(second)
    uploads.delete(second)
    uploads.delete("../anna")
    assert [file.name for file in uploads.mine()] == [first]


def test_files_expire_unless_they_are_used(come, set_limits: SetLimits) -> None:
    set_limits(upload_days=3)
    come(ANNA)
    old, used = (uploads.keep(text, "a.txt") for text in (b"old", b"used"))
    for name in (old, used):
        grow_old(name, 4)
    uploads.path_of(used)
    new = uploads.keep(b"new", "a.txt")
    assert {file.name for file in uploads.mine()} == {used, new}


def test_one_file_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"'mine\.txt' is empty; choose another file"):
        uploads.keep(b"", "mine.txt")
    with pytest.raises(ValueError, match=r"'mine\.txt' is empty; choose another file"):
        uploads.keep(b" \r\n\t" * 2_000, "mine.txt")
    monkeypatch.setattr(uploads, "MAX_BYTES", 4)
    with pytest.raises(ValueError, match=r"has 5 bytes; at most 4 bytes are read: cut it"):
        uploads.keep(b"12345", "mine.txt")


def test_a_visitors_files_are_bounded_in_number_and_bytes(
    come, set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_OF_A_VISITOR", 2)
    set_limits(uploads_of_a_visitor_mb=1)
    come(ANNA)
    kept = uploads.keep(b"1234", "mine.txt")
    with pytest.raises(ValueError) as refused:
        uploads.keep(bytes(MB), "mine.txt")
    assert str(refused.value) == (
        "1 files with 4 bytes are what you handed in already, and this has 1.0 MB; "
        "the limits are 2 and 1.0 MB: delete one that you no longer need"
    )
    uploads.keep(b"12345", "mine.txt")
    with pytest.raises(ValueError, match="2 files with 9 bytes are what you handed in already, and this"):
        uploads.keep(b"123456", "mine.txt")
    assert uploads.keep(b"1234", "again.txt") == kept
    come(BEN)
    uploads.keep(b"123456", "mine.txt")


def test_all_visitors_files_are_bounded_together_and_few_of_one_byte_end_nothing(
    come, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_IN_ALL", 3)
    for index in range(3):
        come(Visitor(f"v{index}"))
        uploads.keep(b"1", "a.txt")
    with pytest.raises(ValueError, match=re.escape("3 files with 3 bytes are what all visitors handed in")):
        uploads.keep(b"2", "a.txt")
    uploads.delete(uploads.mine()[0].name)
    uploads.keep(b"2", "a.txt")
    for index in range(3):
        come(Visitor(f"v{index}"))
        grow_old(uploads.mine()[0].name, 15)
    uploads.keep(b"3", "a.txt")


def test_who_only_looks_hands_nothing_in(set_limits: SetLimits) -> None:
    set_limits(read_only=True)
    with pytest.raises(ValueError, match="this server is read-only: it takes no files"):
        uploads.keep(b"1", "a.txt")


def test_an_upload_that_is_gone_is_told() -> None:
    name = uploads.keep(b"some text", "mine.txt")
    uploads.path_of(name).unlink()
    with pytest.raises(ValueError, match="the file is no longer here; choose it again"):
        uploads.path_of(name)


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "'hamlet.txt' was not kept: the server's disk is full; tell"),
        (errno.EROFS, "'hamlet.txt' was not kept: this server cannot write to its disk (Read"),
    ],
)
@pytest.mark.parametrize("step", ["mkdir", "replace"])
def test_a_disk_that_takes_no_file_is_told_of(
    number: int, sentence: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its folder or the file cannot be written; nothing is left of it, nor of one that was killed."""
    uploads.keep(b"before", "before.txt")
    left = uploads.folder() / ".some.txt.abc.tmp"
    left.write_bytes(b"half a file")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(Path, step, refuse)
        with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
            uploads.keep(b"to be", "hamlet.txt")
        assert str(uploads.folder()) not in str(caught.value)
    assert uploads.keep(b"to be", "hamlet.txt").endswith(".txt")
    assert [path.name for path in uploads.folder().glob(".*")] == []
