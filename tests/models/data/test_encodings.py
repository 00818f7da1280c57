"""Encodings: what was written in one is read as it was meant, or is said to be a guess."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.data.encodings import AUTO, CHOICES, TITLES, decoded

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
    read, found = decoded(text.encode(codec), "some.txt")
    assert read == text
    assert found.how in ("detected", "guess") and bool(found.doubt) == (found.how == "guess")
    assert str(found).startswith(TITLES[codec])


def test_what_is_no_more_than_a_guess_is_said_with_the_other_reading():
    text, found = decoded("café\n".encode("cp1252"), "some.txt")
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
        (FRENCH.encode("utf-16-le"), "UTF-16, as detected"),
        (FRENCH.encode("utf-16-be"), "UTF-16, as detected"),
        (FRENCH.encode("utf-32"), "UTF-32, by its mark"),
    ],
)
def test_marks_and_unicode_are_certain(raw: bytes, said: str):
    text, found = decoded(raw, "some.txt")
    assert text in (FRENCH, "plain") and str(found) == said and found.doubt == ""


def test_a_text_that_was_read_wrongly_before_is_said_to_be_one():
    twice = FRENCH.encode().decode("cp1252", errors="replace")
    assert "letters were lost before" in decoded(f"{twice}�".encode(), "some.txt")[1].doubt
    assert "read in a wrong encoding and saved" in decoded("dÃ©jÃ  vu".encode(), "some.txt")[1].doubt


def test_a_person_may_say_it():
    raw = "Привет".encode("cp1251")
    assert decoded(raw, "some.txt", "cp1251")[0] == "Привет"
    assert str(decoded(raw, "some.txt", "cp1251")[1]) == "Windows-1251 (Cyrillic), as chosen"
    with pytest.raises(ValueError, match=r"'some.txt' is no text in UTF-8: byte 0 does not fit; choose"):
        decoded(raw, "some.txt", "utf-8")
    with pytest.raises(ValueError, match=r"begins with the mark of UTF-8, but encoding=cp1251; choose auto"):
        decoded(codecs.BOM_UTF8 + raw, "some.txt", "cp1251")
    with pytest.raises(ValueError, match="encoding='rot13x' is unknown; choose one of auto, utf-8"):
        decoded(raw, "some.txt", "rot13x")


@given(text=st.text(st.characters(codec="cp1252", exclude_categories=("Cc", "Cs")), min_size=1, max_size=60))
def test_what_is_read_again_as_it_was_found_is_the_same(text: str):
    """What a run keeps of its file's encoding gives the same text when it is resumed."""
    raw = text.encode("cp1252")
    try:
        read, found = decoded(raw, "some.txt")
    except ValueError:
        return
    assert decoded(raw, "some.txt", found.codec)[0] == read
    assert decoded(raw, "some.txt", "cp1252")[0] == text if not raw.startswith(codecs.BOM_UTF16_LE) else True


def test_every_choice_is_a_codec():
    assert CHOICES[0] == AUTO
    for name in TITLES:
        codecs.lookup(name)
