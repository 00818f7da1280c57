"""Text files as they come: every encoding with a mark, every end of line, and what is no text."""

import re
from pathlib import Path

import pytest

from models.byte_units import MB
from models.data import text_files
from models.data.text_files import read_text

TEXT = "Ça, «été» 🙂\nsecond\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le-mark", "utf-16-be-mark"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_text_is_the_same_in_every_encoding(tmp_path: Path, encoding: str, end: str):
    path = tmp_path / "some.txt"
    ended = TEXT.replace("\n", end)
    if encoding.endswith("-mark"):
        path.write_bytes(("\ufeff" + ended).encode(encoding.removesuffix("-mark")))
    else:
        path.write_bytes(ended.encode(encoding))
    assert read_text(path) == TEXT


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "'some.txt' is empty; choose a file with text in it"),
        (b" \r\n\t", "'some.txt' is empty"),
        (
            b"abc\xff\xfedef",
            "'some.txt' is no text in UTF-8 or with a byte order mark (byte 3 does not fit)",
        ),
        (b"PK\x03\x04\x00\x00", "'some.txt' holds zero bytes, as no text does; choose a text file, in UTF-8"),
        (b"\xff\xfea", "is no text in UTF-8 or with a byte order mark"),
    ],
)
def test_what_is_no_text_is_refused_in_words(tmp_path: Path, content: bytes, sentence: str):
    path = tmp_path / "some.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        read_text(path)


def test_too_large_a_file_and_a_missing_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_files, "MAX_BYTES", MB)
    path = tmp_path / "some.txt"
    path.write_bytes(b"a" * (MB + 1))
    with pytest.raises(ValueError, match=r"'some\.txt' is larger than 1\.0 MB; give a part of it"):
        read_text(path)
    with pytest.raises(
        ValueError, match=r"'none' cannot be read \(No such file or directory\); choose a file"
    ):
        read_text(tmp_path / "none")
