"""Text files as people have them: every common coding is read, and what is no text is refused in words."""

import re
from pathlib import Path

import pytest

from models.data import texts
from models.data.texts import read_text

TEXT = "Être ou ne pas être,\nthat is the question ☃\n"


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_every_coding_and_line_end_is_read(tmp_path: Path, coding: str, ending: str):
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.replace("\n", ending).encode(coding))
    assert read_text(path) == TEXT


def test_one_long_line_is_a_text(tmp_path: Path):
    path = tmp_path / "line.txt"
    path.write_text("ab" * 100_000)
    assert len(read_text(str(path))) == 200_000


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty; choose a file with text in it"),
        (b" \r\n ", "is empty; choose a file with text in it"),
        (b"\xef\xbb\xbf", "is empty; choose a file with text in it"),
        (bytes(range(256)), "is no text: byte 128 is not UTF-8; save it as UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0", "is no text: byte 0 is not UTF-8"),
        (b"\0" * 100, "is no text: it has zero bytes"),
        (b"\xff\xfea\0b", "is no text: byte 4 is not UTF-16-LE"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, sentence: str):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(f"{str(path)!r} {sentence}")):
        read_text(path)


def test_a_file_too_long_is_not_even_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "long"
    with path.open("wb") as file:
        file.truncate((200 << 20) + 1)  # a hole takes no room
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("opened"))
    with pytest.raises(ValueError, match="has 200 MB; give at most 200, or a part of it"):
        read_text(path)


def test_what_is_not_there_is_said(tmp_path: Path):
    with pytest.raises(ValueError, match=r"cannot be read \(No such file or directory\); give the path of"):
        read_text(tmp_path / "none")
    with pytest.raises(ValueError, match=r"cannot be read \(Is a directory\)"):
        read_text(tmp_path)


def test_the_limit_is_200_megabytes():
    assert texts.MAX_BYTES == 209_715_200
