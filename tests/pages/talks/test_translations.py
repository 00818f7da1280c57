"""The talks and sheets that ship, in other languages: each says what the English one says."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from attention_lab.pages.shared.words import TRANSLATED
from attention_lab.pages.talks import talks
from attention_lab.pages.talks.talks import FOLDER, NAMES, SHEET_NAMES
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
    translation, english = read(file, file.parents[1] / file.name)
    assert translation["problems"] == [] and translation["isSame"]
    assert translation["talk"]["settings"]["language"] == file.parent.name
    assert translation["talk"]["title"] != english["talk"]["title"]
    assert shape(translation["talk"]) == shape(english["talk"])


def test_a_talk_without_a_file_in_a_language_is_told_in_english(tmp_path: Path) -> None:
    for file in ("de/one.md", "one.md", "two.md"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(file)
    told = talks.by_language(tmp_path, ("one", "two"))
    assert told["de"] == {"one": "de/one.md", "two": "two.md"}
    assert told["en"] == told["fr"] == {"one": "one.md", "two": "two.md"}
