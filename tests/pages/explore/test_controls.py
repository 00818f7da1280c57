"""What Explore says of a text that the model cannot read as it was meant."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.models.runs.owners import Ownership, Visitor, write_owned
from attention_lab.models.zoo.offers import offers
from attention_lab.pages.explore import controls, figure, state
from attention_lab.pages.explore.subject import subject_of
from attention_lab.pages.shared import visitors
from tests.limits import SetLimits
from tests.pages.explore.test_figure import opened, said, shown
from tests.pages.shared.runs import write_run

FRENCH = "le chat a mangé la pomme"


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


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


def test_a_typed_text_with_words_that_the_grammar_lacks_is_read_by_the_everyday_translator() -> None:
    page = opened()
    page.text_input(key="text").set_value("my grandmother baked a cake").run()
    assert shown(page) == ("everyday", "my grandmother baked a cake")
    assert said(page) == [
        "“translator” has no word for “grandmother”, “baked”: “everyday translator” reads this."
    ]
    page.button(key="widened.back").click().run()
    assert shown(page) == ("translator", "my grandmother baked a cake")
    assert said(page)[0].startswith("“grandmother” ") and "widened.back" not in {
        button.key for button in page.button
    }
    assert not page.exception


def test_a_text_of_known_words_and_a_link_stay_with_their_model() -> None:
    page = opened(text="my grandmother baked a cake")
    assert shown(page)[0] == "translator"
    page.text_input(key="text").set_value("the cat saw the dog").run()
    assert shown(page) == ("translator", "the cat saw the dog") and said(page) == []
    page = opened(model="translator-plain")
    page.text_input(key="text").set_value("i love pizza").run()
    assert shown(page) == ("everyday", "i love pizza")


def test_who_went_back_stays() -> None:
    page = opened()
    page.text_input(key="text").set_value("i love pizza").run()
    page.text_input(key="text").set_value("the dog").run()
    assert said(page) == ["“everyday translator” reads this."] and shown(page)[0] == "everyday"
    page.button(key="widened.back").click().run()
    assert shown(page) == ("translator", "the dog")
    page = opened()
    page.text_input(key="text").set_value("i love pizza").run()
    page.button(key="widened.back").click().run()
    page.text_input(key="text").set_value("we love pizza").run()
    assert shown(page) == ("translator", "we love pizza")


def test_reset_forgets_who_went_back() -> None:
    page = opened()
    page.text_input(key="text").set_value("i love pizza").run()
    page.button(key="widened.back").click().run()
    next(button for button in page.button if button.label == "Reset").click().run()
    page.text_input(key="text").set_value("i love pizza").run()
    assert shown(page) == ("everyday", "i love pizza")


def test_a_text_for_which_the_other_has_no_room_stays() -> None:
    page = opened()
    page.text_input(key="text").set_value("the grandmother saw the dog " * 20).run()
    assert shown(page)[0] == "translator" and "widened" not in page.session_state


@pytest.mark.parametrize("model", ["everyday", "translator"])
def test_a_typed_french_sentence_is_read_as_french(model: str) -> None:
    page = opened(model=model)
    page.text_input(key="text").set_value("i love pizza").run()  # which the translator leaves to the other
    page.text_input(key="text").set_value("je mange une pomme").run()
    assert shown(page)[0] == "everyday" and page.session_state["direction"] == "auto"
    read = subject_of(page.session_state["explore.last"])
    assert read.tokens["encoder"][0]["text"] == "<2en>" and read.reading.answer == "i eat an apple"


def test_the_same_sentence_in_both_translators_is_one_press_away(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[dict[str, str]] = []
    monkeypatch.setattr("streamlit.switch_page", lambda page, query_params: left.append(query_params))
    page = opened()
    page.text_input(key="text").set_value("i love pizza").run()
    page.button(key="widened.both").click().run()
    assert not page.exception
    assert left == [{"model": "everyday", "text": "i love pizza", "differs": "model", "model2": "translator"}]


def test_a_word_that_the_grammar_knows_is_put_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(text="the cat saw the ")
    page.session_state["word_to_add"] = "dog"
    added: list[str] = []
    monkeypatch.setattr(figure, "st", SimpleNamespace(session_state=page.session_state))
    monkeypatch.setattr(controls, "page", lambda: SimpleNamespace(kept={"text": "the cat saw the "}))
    monkeypatch.setattr(controls, "offer", lambda: offers()["translator"])
    monkeypatch.setattr(controls, "read_text", added.append)
    figure._add_word()
    page.session_state["word_to_add"] = "zebra"  # no word of the list, as a message may say
    figure._add_word()
    assert added == ["the cat saw the dog"]


def test_words_that_a_model_lacks_are_those_of_models_of_words() -> None:
    assert controls.words_lacking(offers()["everyday"], "zzz") == []
    assert controls.words_lacking(offers()["translator"], "the zebra saw a zebra") == ["zebra"]


def test_a_long_text_can_be_turned_round_though_the_model_never_ended_its_translation() -> None:
    page = opened(text="the cat saw the dog " * 12)
    page.button_group(key="direction").set_value("fr-en").run()
    assert said(page) == []
    assert len(shown(page)[1].split()) > 60


# Which models Explore opens for whom: by its link and by its picker.


def names(page: AppTest) -> list[str]:
    return page.selectbox(key="model").options


def test_anothers_run_is_no_other_than_one_that_is_not_here(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "visitor", lambda: Visitor("ben"))
    model = write_run(runs, "reverse")
    folder = runs / "reverse"
    write_owned(folder, Ownership(owner="anna"))
    page = opened(model=model)
    assert said(page) == ["'run:reverse' is no run with a checkpoint on this machine; the default is shown."]
    assert shown(page)[0] == "translator"
    assert not state.MODEL.fits(model)  # what a message to the widget must be
    write_owned(folder, Ownership(owner="anna", shared=True))
    assert state.MODEL.fits(model)
    assert shown(opened(model=model))[0] == model


def test_the_model_to_compare_with_is_offered_where_it_may_be_opened(set_limits: SetLimits) -> None:
    told = offers()["translator"]
    other = controls.contrast_of(told)
    assert other is not None and other.name == "translator-plain"
    assert figure._taught(told, "") == {"text": told.taught, **told.contrast}
    set_limits(models=["translator"])
    assert controls.contrast_of(told) is None
    assert figure._taught(told, "") == {"text": told.taught, "label": "", "model": ""}
    assert controls.contrast_of(offers()["untrained"]) is None


def test_only_the_models_of_the_limits_are_shown(runs: Path, set_limits: SetLimits) -> None:
    set_limits(models=["translator", "induction"])
    assert names(opened()) == ["translator", "induction"]
    assert shown(opened(model="induction"))[0] == "induction"
    page = opened(model="sparse")
    assert said(page) == [
        "'sparse' is not among the models shown here, translator, induction; the default is shown."
    ]
    assert shown(page)[0] == "translator"
    run = write_run(runs, "reverse")
    assert shown(opened(model=run))[0] == "translator"
    set_limits(models=["translator", "runs"])
    assert shown(opened(model=run))[0] == run
