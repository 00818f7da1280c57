"""An own file on Train: its columns are offered, and one that is refused never lets another run start."""

from pathlib import Path

import pytest
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from attention_lab.models.runs.owners import Visitor
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.training import uploads
from tests.pages.texts_of_apptest import texts

PAGE = str(Path(__file__).parents[3] / "pages" / "train" / "page.py")
UPLOAD = "train.sentiment.file.upload"
ROWS = [f"{i};c'était très bien, numéro {i};{'bon' if i % 2 else 'mauvais'}" for i in range(40)]
FILE = "\n".join(["id;avis;note", *ROWS]).encode("cp1252")


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(visitors, "visitor", lambda: Visitor("anna"))
    monkeypatch.setattr(DeltaGenerator, "page_link", lambda *given, **more: None)  # there is no other page
    at = AppTest.from_file(PAGE, default_timeout=60)
    at.query_params["task"] = "sentiment"
    return at.run()


def start(page: AppTest):
    return next(button for button in page.button if button.label == "Start")


def said(page: AppTest) -> str:
    return "\n".join(texts(page))


def hand_in(page: AppTest, name: str, content: bytes) -> AppTest:
    return page.file_uploader(key=UPLOAD).set_value((name, content, "text/csv")).run()


def test_columns_are_menus_once_there_is_a_file(page: AppTest) -> None:
    assert "praises or blames" in said(page)
    assert not start(page).disabled and "text_column" not in {box.key for box in page.selectbox}
    hand_in(page, "avis <i>.csv", FILE)
    assert start(page).disabled
    assert "'avis <i>.csv' is no text in UTF-8 (byte 17); choose its encoding" in said(page)
    page.selectbox(key="train.sentiment.encoding").set_value("cp1252").run()
    assert start(page).disabled
    assert "'avis <i>.csv' has the columns 'id, avis, note'; call two columns text and label" in said(page)
    assert "or choose them" in said(page)
    assert "Reads avis <i>.csv" in said(page)
    menu = page.selectbox(key="train.sentiment.text_column")
    assert menu.options == ["by its name or place", "id", "avis", "note"]
    menu.set_value("avis").run()
    page.selectbox(key="train.sentiment.label_column").set_value("note").run()
    assert not start(page).disabled and not page.exception
    assert "praises or blames" not in said(page)  # nobody knows of an own file that its texts are reviews
    assert "[CLS] answers" in said(page)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("none.csv", b"", "'none.csv' is empty; choose another file; nothing starts until"),
        ("blank.csv", b"  \n\n", "'blank.csv' is empty; choose another file; nothing starts until"),
        ("table.xlsx", b"PK", "'table.xlsx' is no file that ends in .csv, .tsv, .txt; save it as one of"),
    ],
)
def test_a_refused_file_starts_nothing_else(page: AppTest, name: str, content: bytes, sentence: str) -> None:
    hand_in(page, name, content)
    assert start(page).disabled and sentence in said(page)
    page.run()
    assert start(page).disabled and sentence in said(page)
    next(button for button in page.button if button.label == "Without a file").click().run()
    assert not start(page).disabled and sentence not in said(page)


def test_a_header_alone_is_refused_in_place(page: AppTest) -> None:
    hand_in(page, "head.csv", b"text,label\n")
    assert start(page).disabled
    assert "'head.csv' has no row but its names of columns; choose another file" in said(page)
    assert len(uploads.mine()) == 1
