"""A model that is named but cannot be loaded: one sentence, and the model before it stays."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.pages.shared import model_field
from tests.models.zoo.hub import families
from tests.pages.texts_of_apptest import texts


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("ATTENTION_LAB_MODELS", str(tmp_path / "models"))


def opened() -> AppTest:
    page = AppTest.from_file(str(Path(__file__).with_name("model_page.py")), default_timeout=60).run()
    assert not page.exception
    return page


def test_weights_that_are_cut_short_are_refused_and_the_model_before_them_stays(tmp_path: Path) -> None:
    folder = families.save("bert", tmp_path / "models" / "cut-short")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:2_000])
    page = opened()
    page.text_input(key=model_field.KEY).set_value(str(folder)).run()
    assert not page.exception
    (sentence,) = texts(page)
    assert sentence.startswith("cut-short could not be loaded: ")
    assert sentence.endswith("get its files again; the previous model stays loaded.")
    assert page.session_state.model == "translator"


def test_the_models_on_this_machine_are_listed_with_a_press_each(tmp_path: Path) -> None:
    assert any("No model of transformers is on this machine yet." in each.value for each in opened().caption)
    families.save("bert", tmp_path / "models" / "small-bert")
    page = opened()
    page.button(key="here.hf:small-bert").click().run()
    assert not page.exception and page.session_state.model == "hf:small-bert"
