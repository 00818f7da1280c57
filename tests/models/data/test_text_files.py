"""Encodings: UTF-8 and marks are read by themselves, all others as a person says, and no other is guessed."""

import codecs
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_lab.models.byte_units import MB
from attention_lab.models.data import text_files
from attention_lab.models.data.text_files import AUTO, CHOICES, TITLES, decode, read_text, rows_of

TEXT = "Ça, «été» 🙂\nsecond\n"
TEXTS = {
    "cp1252": "La crème brûlée coûtait 5 €.\n", "cp1250": "Zażółć gęślą jaźń.\n",
    "cp1251": "Привет, как дела?\n",
    "koi8-r": "Привет, как дела?\n", "cp1253": "Καλημέρα\n", "cp932": "天気がいい。\n",
    "gb18030": "今天很好。\n",
}  # fmt: skip


@pytest.mark.parametrize("codec", TEXTS)
def test_what_is_no_utf_8_is_refused_until_a_person_says_its_encoding(codec: str):
    raw = TEXTS[codec].encode(codec)
    with pytest.raises(ValueError) as refused:
        decode(raw, "some.txt")
    assert re.fullmatch(
        r"'some\.txt' is no text in UTF-8 \(byte \d+\); choose its encoding, such as cp1252, or save it as "
        r"UTF-8",
        str(refused.value),
    )
    assert decode(raw, "some.txt", codec) == (TEXTS[codec], codec)


@given(text=st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0\ufeff"), max_size=60))
def test_what_is_read_again_by_its_codec_is_the_same(text: str):
    """What a run keeps of its file's encoding gives the same text when it is resumed."""
    for raw in (text.encode(), codecs.BOM_UTF8 + text.encode(), text.encode("utf-16")):
        read, codec = decode(raw, "some.txt")
        assert read == text
        assert decode(raw, "some.txt", codec) == (text, codec)


@pytest.mark.parametrize(
    ("encoding", "sentence"),
    [
        ("cp932", "is no text in Shift JIS (Japanese) (byte 1); choose its encoding, such as"),
        ("utf-16", "is no text in UTF-16 (byte 4)"),
        ("rot13x", "encoding='rot13x' is unknown; choose one of auto, utf-8, utf-16, cp1252"),
    ],
)
def test_a_wrong_choice_is_refused_in_words(encoding: str, sentence: str):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        decode("a…b—c".encode("cp1252"), "some.txt", encoding)


def test_a_mark_of_utf_8_is_no_text_whatever_a_person_says():
    assert decode(codecs.BOM_UTF8 + b"plain", "some.txt", "cp1252") == ("plain", "utf-8-sig")


def test_every_choice_is_a_codec():
    assert CHOICES[0] == AUTO
    for name in TITLES:
        codecs.lookup(name)


# Text files as they come: every encoding with a mark, every end of line, and what is no text.


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-mark", "utf-16-be-mark"])
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
        (b"", "'some.txt' is empty; choose another file"),
        (b" \r\n\t", "'some.txt' is empty"),
        (
            b"abc\xff\xfe\x01\x02def",
            "'some.txt' is no text in UTF-8 (byte 3); choose its encoding, such as cp1252",
        ),
        (b"PK\x03\x04\x00\x00", "'some.txt' holds zero bytes; choose its"),
        (b"\xff\xfea", "'some.txt' is no text in UTF-16 (byte 2); choose its encoding"),
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
        ValueError, match=r"'none' cannot be read \(No such file or directory\); choose another file"
    ):
        read_text(tmp_path / "none")


def test_rows_have_the_numbers_of_their_lines():
    rows = list(rows_of('a,b\n\n"c\nd",e\nf,g\n', "some.csv", ","))
    assert rows == [(1, ["a", "b"]), (4, ["c\nd", "e"]), (5, ["f", "g"])]
    assert list(rows_of('say "hi\tb\n', "some.tsv", "\t")) == [(1, ['say "hi', "b"])]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("," * 1_000_001, "line 1 of 'some.csv' belongs to a row of over 1,000,000 characters; is a"),
        ("a,b\n" + '"x\n",' * 200_001, "belongs to a row of over 1,000,000 characters"),
        ("a,b\n" * 1_000_001, "'some.csv' has more than 1,000,000 rows; give a part of it"),
        ("a," + "b" * 140_000, "line 1 of 'some.csv' is no line of a table (field larger"),
    ],
)
def test_a_table_is_read_up_to_a_limit(text: str, sentence: str):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        for _ in rows_of(text, "some.csv", ","):
            pass
