"""Explore's widgets around a model with a task: which are drawn, and what they put before the model."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.models import load_model
from attention_lab.pages.explore import controls
from attention_lab.pages.explore.state import SHOWCASE
from tests.models.zoo.hub import families
from tests.pages.shared.runs import write_run
from tests.pages.texts_of_apptest import texts

PAGE = Path(__file__).parents[3] / "pages" / "explore" / "page.py"


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


def opened(**link: str) -> AppTest:
    page = AppTest.from_file(str(PAGE), default_timeout=60)
    for name, value in link.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def shown(page: AppTest) -> tuple[str, str]:
    """The model and the text that the stage was given."""
    given = page.session_state["explore.last"]
    return given.model, given.text


def said(page: AppTest) -> list[str]:
    return texts(page)


def test_a_link_to_a_run_opens_it_with_what_was_watched(runs: Path) -> None:
    model = write_run(runs, "reverse")
    page = opened(model=model)
    assert shown(page) == (model, page.text_input(key="text").value)
    assert page.text_input(key="text").value.endswith("=")
    assert page.selectbox(key="model").value == model
    assert said(page) == []
    assert opened(model=model, text="abc").text_input(key="text").value == "abc"


def test_a_run_that_is_not_here_gives_way_to_the_translator_in_a_sentence() -> None:
    page = opened(model="run:lost", text="abc")
    assert said(page) == ["'run:lost' is no run with a checkpoint on this machine; the default is shown."]
    assert shown(page) == ("translator", SHOWCASE)
    page = opened(model="gpt-9")
    assert said(page)[0].startswith("The link's model='gpt-9' is not one of translator, untrained")
    assert shown(page) == ("translator", SHOWCASE)


def test_every_model_keeps_its_own_text(runs: Path) -> None:
    model = write_run(runs, "reverse")
    page = opened(model=model, text="abc")
    page.selectbox(key="model").set_value("translator").run()
    assert shown(page) == ("translator", SHOWCASE)
    page.text_input(key="text").set_value("the cat saw the dog").run()
    page.selectbox(key="model").set_value("untrained").run()
    assert shown(page) == ("untrained", "the cat saw the dog")
    page.selectbox(key="model").set_value("translator").run()
    assert shown(page) == ("translator", "the cat saw the dog")
    assert not page.exception


def test_what_the_model_cannot_read_is_said_and_the_last_figure_stays(runs: Path) -> None:
    page = opened(model=write_run(runs, "reverse"), text="abc")
    page.text_input(key="text").set_value("a z").run()
    assert said(page)[0].startswith("'z' is no character of 'reverse'")
    assert shown(page)[1] == "abc"
    assert not page.exception


def test_pictures_are_chosen_by_number(runs: Path) -> None:
    model = write_run(runs, "digits-classifier")
    page = opened(model=model, text="7")
    assert page.number_input(key="picture").value == 7
    page.number_input(key="picture").set_value(8).run()
    assert shown(page) == (model, "8")
    page.run()  # the change drew the figure alone
    page.number_input(key="picture").set_value(99_999).run()
    assert "No picture has the number '99999'; type one from 1 to" in said(page)[0]
    assert not page.exception


@pytest.mark.parametrize("text", ["9" * 4_400, "1" + "0" * 400, "-1", "²"])
def test_what_is_no_number_of_a_picture_is_said(runs: Path, text: str) -> None:
    """Python itself reads no number of more than 4,300 digits."""
    page = opened(model=write_run(runs, "digits-classifier"), text=text)
    assert said(page)[0].startswith(f"No picture has the number '{text[:40]}'; type one from 1 to")
    assert page.number_input(key="picture").value == 1
    assert not page.exception


def test_a_model_goes_on_writing(runs: Path) -> None:
    model = write_run(runs, "induction")
    page = opened(model=model, text="abc")
    page.slider(key="temperature").set_value(0.0)
    page.slider(key="n_new").set_value(5)
    next(button for button in page.button if button.label == "Continue").click().run()
    written = load_model(runs / "induction").generate("abc", max_new_tokens=5, temperature=0)
    assert shown(page) == (model, "abc" + written)
    assert page.text_input(key="text").value == "abc" + written


def test_reset_shows_the_first_visit(runs: Path) -> None:
    page = opened(model=write_run(runs, "reverse"), text="abc")
    next(button for button in page.button if button.label == "Reset").click().run()
    assert shown(page) == ("translator", SHOWCASE)


def test_a_click_masks_a_word_and_another_shows_it_again(runs: Path) -> None:
    sentences = runs / "sentences.txt"
    sentences.write_text("The cat saw the dog.\nThe dog did not see the cat.\n" * 40)
    model = write_run(runs, "masked", file=str(sentences), vocabulary=100)
    page = opened(model=model, text="the cat saw the dog")
    assert page.pills(key="masked").options == ["the", "cat", "saw", "the", "dog"]
    page.pills(key="masked").select(1).run()
    assert shown(page) == (model, "the [MASK] saw the dog")
    assert page.pills(key="masked").value == [1]
    assert page.pills(key="masked").options[1] == "cat"
    page.pills(key="masked").select(4).run()
    assert shown(page)[1] == "the [MASK] saw the [MASK]"
    page.pills(key="masked").unselect(1).run()
    assert shown(page)[1] == "the cat saw the [MASK]"
    assert not page.exception


def test_a_language_model_reads_lines_and_keeps_the_end_of_what_it_wrote(runs: Path) -> None:
    lines = runs / "text.txt"
    lines.write_text("To be, or not to be:\nthat is the question.\n" * 40)
    model = write_run(runs, "language-model", file=str(lines), length=16)
    page = opened(model=model, text="to be\nor not")
    assert page.text_area(key="text").value == "to be\nor not"
    page.slider(key="temperature").set_value(0.0)
    page.slider(key="n_new").set_value(8)
    next(button for button in page.button if button.label == "Continue").click().run()
    written = load_model(runs / "language-model").generate("to be\nor not", max_new_tokens=8, temperature=0)
    assert len(written) == 8
    assert page.text_area(key="text").value == ("to be\nor not" + written)[-16:]
    assert not page.exception


def test_what_a_run_says_of_itself_is_text(runs: Path) -> None:
    """Its folder holds what somebody wrote there: no picture is fetched, and nothing becomes a link."""
    model = write_run(runs, "reverse")
    file = runs / "reverse" / "config.json"
    said = json.loads(file.read_text())
    said["model"]["positions"] = "![p](http://evil.example/p.png)"
    said["task"]["name"] = "[a](http://evil.example/a)"
    file.write_text(json.dumps(said))
    captions = [caption.value for caption in opened(model=model, text="abc").caption]
    assert any(r"\!\[p\]\(http" in caption for caption in captions)
    assert any(r"\[a\]\(http" in caption for caption in captions)
    assert not any("http://" in caption.replace("\\", "") for caption in captions)


def test_a_suggestion_for_a_word_that_is_gone_changes_nothing() -> None:
    page = opened(model="translator", text="the animel was tired")
    suggestion = next(button for button in page.button if str(button.key).startswith("suggestion.0."))
    page.text_input(key="text").set_value("it was wide")
    suggestion.click().run()
    assert not page.exception
    assert page.text_input(key="text").value == "it was wide"
    assert said(page)[0] == f"'animel' is not there any more, so it was not replaced by {suggestion.label!r}."
    page.text_input(key="text").set_value("the animel was wide").run()
    page.button(key="widened.back").click().run()
    suggestion = next(button for button in page.button if str(button.key).startswith("suggestion.0."))
    suggestion.click().run()
    assert page.text_input(key="text").value == f"the {suggestion.label} was wide"


def test_a_suggestion_for_a_text_that_the_model_has_no_more_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noted: list[str] = []
    monkeypatch.setattr(controls, "refuse", noted.append)
    monkeypatch.setattr(controls, "st", SimpleNamespace(session_state={"text": "a zebra"}))
    controls.replace_word({"where": "target", "word": "zzz", "start": 0, "end": 3}, "le")
    assert noted == ["'zzz' is not there any more, so it was not replaced by 'le'."]


def test_a_model_that_is_refused_leaves_another_s_figure_and_says_whose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = ("SqueezeBertForMaskedLM", "SqueezeBertConfig", families._SIZES | {"embedding_size": 32})
    monkeypatch.setitem(families.FAMILIES, "squeezebert", family)
    folder = families.save("squeezebert", tmp_path / "squeezebert")
    page = opened(model=f"hf:{folder}")
    (sentence,) = said(page)
    assert "not from 0 to 1" in sentence
    assert sentence.endswith("The figure below is of translator.")
    assert shown(page)[0] == "translator"
