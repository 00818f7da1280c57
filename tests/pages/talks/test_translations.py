"""The talks and sheets that ship, in other languages: each says what the English one says."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from attention_lab.pages.shared.words import TRANSLATED
from attention_lab.pages.talks.talks import FOLDER, NAMES, SHEET_NAMES, SHEETS, TALKS
from tests.pages.talks.reading import read

FILES = [
    pytest.param(folder / code / f"{name}.md", id=f"{code}-{name}")
    for folder, names in ((FOLDER, NAMES), (FOLDER.with_name("sheets"), SHEET_NAMES))
    for code in TRANSLATED
    for name in names
]


def shape(talk: dict[str, Any]) -> Sequence[Any]:
    """All of a talk that a translation leaves as it is."""

    def of_stop(stop: dict[str, Any]) -> Sequence[Any]:
        question, settings = stop["question"], stop["settings"]
        asked = question and (len(question["options"]), question["right"], bool(question["because"]))
        hints = len(settings.get("hint", "").splitlines())
        rules = {key: value for key, value in settings.items() if key != "hint"}
        paragraphs = stop["notes"].count("\n\n") + 1 if stop["notes"] else 0
        return stop["link"], stop["hide"], stop["at"], asked, rules, hints, paragraphs

    settings = {key: value for key, value in talk["settings"].items() if key != "language"}
    return settings, bool(talk["about"]), [of_stop(stop) for stop in talk["stops"]]


@pytest.mark.parametrize("file", FILES)
def test_a_translation_has_the_links_the_questions_and_the_rules_of_the_english_one(file: Path) -> None:
    if not file.exists():
        pytest.skip("English is shown")
    translation, english = read(file, file.parents[1] / file.name)
    assert translation["problems"] == [] and translation["isSame"]
    assert translation["talk"]["settings"]["language"] == file.parent.name
    assert translation["talk"]["title"] != english["talk"]["title"]
    assert shape(translation["talk"]) == shape(english["talk"])


def test_a_language_has_all_talks_and_sheets_in_english_where_it_has_none() -> None:
    for code in ("en", *TRANSLATED):
        assert list(TALKS[code]) == [*NAMES] and list(SHEETS[code]) == [*SHEET_NAMES]
    for name, text in {**TALKS["de"], **SHEETS["de"]}.items():
        folder = FOLDER if name in NAMES else FOLDER.with_name("sheets")
        assert text in [file.read_text("utf-8") for file in folder.rglob(f"{name}.md")]
