"""Text files as they come: every encoding with a mark, every end of line, and what is no text."""

import re
from pathlib import Path

import pytest

from models.byte_units import MB
from models.data import text_files
from models.data.text_files import read_text, rows_of

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
            b"abc\xff\xfe\x01\x02def",
            "'some.txt' is no text in UTF-8 (byte 3 does not fit) or in another encoding that is known here; "
            "save it as UTF-8",
        ),
        (b"PK\x03\x04\x00\x00", "'some.txt' holds zero bytes, as no text does; choose a text file, in UTF-8"),
        (b"\xff\xfea", "begins with the mark of UTF-16, and byte 2 does not fit it; save it again as UTF-8"),
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


def test_rows_have_the_numbers_of_their_lines():
    rows = list(rows_of('a,b\n\n"c\nd",e\nf,g\n', "some.csv", ","))
    assert rows == [(1, ["a", "b"]), (4, ["c\nd", "e"]), (5, ["f", "g"])]
    assert list(rows_of('say "hi\tb\n', "some.tsv", "\t", quoted=False)) == [(1, ['say "hi', "b"])]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("," * 1_000_001, "line 1 of 'some.csv' belongs to a row of more than 1,000,000 characters; is a"),
        ("a,b\n" + '"x\n",' * 200_001, "belongs to a row of more than 1,000,000 characters"),
        ("a,b\n" * 1_000_001, "'some.csv' has more than 1,000,000 rows; give a part of it"),
        ("a," + "b" * 140_000, "line 1 of 'some.csv' is no line of a table (field larger"),
    ],
)
def test_a_table_is_read_up_to_a_limit(text: str, sentence: str):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        for _ in rows_of(text, "some.csv", ","):
            pass
