"""Encodings: what was written in one is read as it was meant, or is said to be a guess."""

import codecs
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_lab.models.byte_units import MB
from attention_lab.models.data import text_files
from attention_lab.models.data.text_files import AUTO, CHOICES, TITLES, decode, read_text, rows_of

FRENCH = (
    "Ça commence bien : le café est à côté de l'école, où les élèves déjeunent à midi.\n"
    "Le serveur était très gentil, mais la crème brûlée n'était pas fraîche, et elle coûtait 5 €.\n"
)
TEXTS = {
    "cp1252": FRENCH,
    "mac-roman": FRENCH,
    "cp850": "Die Straße ist schön und größer als früher, aber das Gemüse war über Nacht müde.\n",
    "cp1251": "Привет, как дела? Это русский текст о погоде, и сегодня хорошо.\n",
    "koi8-r": "Привет, как дела? Это русский текст о погоде, и сегодня хорошо.\n",
    "cp1250": "Zażółć gęślą jaźń, proszę bardzo, dziękuję. Dzień dobry.\n",
    "cp1253": "Καλημέρα, τι κάνεις; Αυτό είναι ένα κείμενο για τον καιρό.\n",
    "cp1254": (
        "Bugün hava çok güzel, dışarıda çocuklar oynuyor ve kuşlar ağaçların üzerinde şarkı söylüyor.\n"
        "Yemek çok iyiydi ama servis biraz yavaştı; yine de arkadaşlarıma öneririm, teşekkürler.\n"
    ),
    "cp932": "これは日本語のテキストです。天気がいい。\n",
    "gb18030": "这是一个关于天气的中文句子。今天很好。\n",
    "big5": "這是一個關於天氣的中文句子。今天很好。\n",
    "cp949": "안녕하세요 오늘 날씨가 좋습니다.\n",
}


@pytest.mark.parametrize("codec", TEXTS)
def test_a_text_is_read_in_the_encoding_that_it_was_written_in(codec: str):
    text = TEXTS[codec] * 3
    read, found = decode(text.encode(codec), "some.txt")
    assert read == text
    assert found.how in ("detected", "guess") and bool(found.doubt) == (found.how == "guess")
    assert str(found).startswith(TITLES[codec])


def test_what_is_no_more_than_a_guess_is_said_with_the_other_reading():
    text, found = decode("café\n".encode("cp1252"), "some.txt")
    assert text == "café\n"
    assert str(found) == "Windows-1252 (Western Europe), which is a guess"
    assert found.doubt.startswith("It reads “café”; Windows-125") and "would read “caf" in found.doubt


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (FRENCH.encode(), "UTF-8"),
        (b"plain", "UTF-8"),
        (codecs.BOM_UTF8 + FRENCH.encode(), "UTF-8, by its mark"),
        (FRENCH.encode("utf-16"), "UTF-16, by its mark"),
        (FRENCH.encode("utf-32"), "UTF-32, by its mark"),
    ],
)
def test_marks_and_unicode_are_certain(raw: bytes, said: str):
    text, found = decode(raw, "some.txt")
    assert text in (FRENCH, "plain") and str(found) == said and found.doubt == ""


def test_a_text_that_was_read_wrongly_before_is_said_to_be_one():
    twice = FRENCH.encode().decode("cp1252", errors="replace")
    assert "letters were lost before" in decode(f"{twice}�".encode(), "some.txt")[1].doubt
    assert "read in a wrong encoding and saved" in decode("dÃ©jÃ  vu".encode(), "some.txt")[1].doubt


def test_a_person_may_say_it():
    raw = "Привет".encode("cp1251")
    assert decode(raw, "some.txt", "cp1251")[0] == "Привет"
    assert str(decode(raw, "some.txt", "cp1251")[1]) == "Windows-1251 (Cyrillic), as chosen"
    with pytest.raises(ValueError, match=r"'some.txt' is no text in UTF-8: byte 0 does not fit; choose"):
        decode(raw, "some.txt", "utf-8")
    with pytest.raises(ValueError, match=r"begins with the mark of UTF-8, but encoding=cp1251; choose auto"):
        decode(codecs.BOM_UTF8 + raw, "some.txt", "cp1251")
    with pytest.raises(ValueError, match="encoding='rot13x' is unknown; choose one of auto, utf-8"):
        decode(raw, "some.txt", "rot13x")


@given(text=st.text(st.characters(codec="cp1252", exclude_categories=("Cc", "Cs")), min_size=1, max_size=60))
def test_what_is_read_again_as_it_was_found_is_the_same(text: str):
    """What a run keeps of its file's encoding gives the same text when it is resumed."""
    raw = text.encode("cp1252")
    try:
        read, found = decode(raw, "some.txt")
    except ValueError:
        return
    assert decode(raw, "some.txt", found.codec)[0] == read
    assert decode(raw, "some.txt", "cp1252")[0] == text if not raw.startswith(codecs.BOM_UTF16_LE) else True


def test_every_choice_is_a_codec():
    assert CHOICES[0] == AUTO
    for name in TITLES:
        codecs.lookup(name)


# Text files as they come: every encoding with a mark, every end of line, and what is no text.

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
