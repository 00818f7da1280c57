"""What Explore says of a text that the model cannot read as it was meant."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.explore.test_current import opened, said, shown

FRENCH = "le chat a mangé la pomme"


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))


def labels(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def test_a_text_in_the_other_language_is_read_as_asked_and_the_other_direction_is_one_press_away() -> None:
    page = opened(text=FRENCH)
    (note,) = (m.value for m in page.markdown if "French only" in m.value)
    assert note.startswith("5 of these words are known in French only, 0 in English only")
    page.button(key="advice").click().run()
    assert page.session_state["direction"] == "fr-en"
    assert shown(page) == ("translator", FRENCH) and page.text_input(key="text").value == FRENCH
    assert "read FR → EN" not in labels(page)
    assert not page.exception


def test_every_unknown_word_is_listed_with_what_is_near_it_or_that_nothing_is() -> None:
    page = opened(text="the cat sat on a mat near the zebra and the elefant")
    assert said(page) == ["“sat” →", "“mat” →", "“zebra” (nothing near it is known)", "“elefant” →"]
    assert "elephant" in labels(page) and "sauté" not in labels(page)
    page = opened(text="cat " + " ".join(f"word{at}" for at in range(9)))
    assert said(page)[-1] == "and 3 more: “word6”, “word7”, “word8”"


def test_a_long_text_can_be_turned_round_though_the_model_never_ended_its_translation() -> None:
    page = opened(text="the cat saw the dog " * 12)
    page.button_group(key="direction").set_value("fr-en").run()
    assert said(page) == []
    assert len(shown(page)[1].split()) > 60
