"""The download of a model as pages offer it: who may, what is said first, what has to be confirmed."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import constants
from streamlit.testing.v1 import AppTest

from attention_lab.models.files import FileError
from attention_lab.models.runs.owners import Visitor
from attention_lab.models.zoo.hub import download as download_module
from attention_lab.models.zoo.hub.download import Coming
from attention_lab.pages.shared import model_download, model_field, visitors
from tests.limits import SetLimits
from tests.models.zoo.hub import families, small_hub
from tests.pages.shared.test_model_field import opened
from tests.pages.texts_of_apptest import texts

SMALL = Coming("hf:someone/small", {"model.safetensors": 4_000_000}, "mit", "1 million weights as float32")
LARGE = Coming("hf:someone/large", {"model.safetensors": 501_000_000, "config.json": 9}, "", "")
NOT_HERE = "is not on this machine; give its folder, or download it first"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    model_download.queue.jobs.clear()


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Coming]:
    """What was begun; nothing comes."""
    found: list[Coming] = []
    monkeypatch.setattr(model_download, "begin", found.append)
    return found


def asked(name: str) -> AppTest:
    page = opened()
    page.text_input(key=model_field.KEY).set_value(name).run()
    return page


def pressed(page: AppTest, key: str) -> AppTest:
    page.button(key=key).click().run()
    assert not page.exception
    return page


def keys(page: AppTest) -> list[str]:
    return [button.key for button in page.button if button.key and button.key.startswith("download.")]


def written(page: AppTest) -> str:
    return " ".join(each.value.replace("\\", "") for each in (*page.markdown, *page.caption))


def test_a_model_is_looked_up_before_it_is_offered(
    monkeypatch: pytest.MonkeyPatch, begun: list[Coming]
) -> None:
    monkeypatch.setattr(download_module, "look_up", {SMALL.name: SMALL}.__getitem__)
    page = asked("someone/small")
    assert texts(page) == [f"'someone/small' {NOT_HERE}; the previous model stays loaded."]
    assert keys(page) == ["download.look"]
    pressed(page, "download.look")
    assert keys(page) == ["download.start"] and not begun
    assert "someone/small: 4.0 MB in 1 file, 1 million weights as float32; licence: mit." in written(page)
    pressed(page, "download.start")
    assert begun == [SMALL]
    assert page.session_state.model == "translator"


def test_a_model_that_is_here_under_its_full_name_is_opened_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ATTENTION_LAB_MODELS", str(tmp_path))
    families.save("gpt2", tmp_path / "openai-gpt2")
    monkeypatch.setattr(
        download_module, "look_up", lambda name: Coming("hf:openai-gpt2", {"config.json": 1}, "", "")
    )
    page = pressed(asked("gpt2"), "download.look")
    assert page.session_state.model == "hf:openai-gpt2" and keys(page) == [] and texts(page) == []


def test_a_large_model_has_to_be_confirmed(monkeypatch: pytest.MonkeyPatch, begun: list[Coming]) -> None:
    monkeypatch.setattr(download_module, "look_up", lambda name: LARGE)
    page = pressed(asked("someone/large"), "download.look")
    assert "501 MB in 2 files, number format not stated; licence: not stated." in written(page)
    assert page.button(key="download.start").disabled
    model_download._start(LARGE)  # as a message written by hand might
    assert not begun
    page.checkbox(key=model_download.SURE).check().run()
    assert not page.button(key="download.start").disabled
    pressed(page, "download.start")
    assert begun == [LARGE]


def test_in_a_class_only_a_teacher_may_download_and_only_what_is_allowed(
    monkeypatch: pytest.MonkeyPatch, set_limits: SetLimits, begun: list[Coming]
) -> None:
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    monkeypatch.setattr(visitors, "visitor", lambda: Visitor("ben"))
    page = asked("someone/small")
    assert keys(page) == []
    assert "'someone/small' is not on this machine, and only a teacher may download models." in written(page)
    monkeypatch.setattr(visitors, "visitor", lambda: Visitor("anna", all_rights=True))
    assert keys(asked("someone/small")) == ["download.look"]
    set_limits(models=["translator", "hf:gpt2"])
    assert model_download.why_not("hf:someone/small") == (
        "'hf:someone/small' is not among the models allowed here, hf:gpt2"
    )
    assert model_download.why_not("hf:gpt2") == ""
    set_limits(read_only=True)
    assert model_download.why_not("hf:gpt2").startswith("this server is read-only")


def test_offline_says_so_in_a_sentence_with_the_local_list(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    page = pressed(asked("gpt2"), "download.look")
    (sentence,) = texts(page)
    assert sentence.startswith("The hub (http://127.0.0.1:9) cannot be reached from this machine")
    assert sentence.endswith("On this machine: no model of transformers yet.")
    families.save("gpt2", tmp_path / "models" / "tiny")
    monkeypatch.setenv("ATTENTION_LAB_MODELS", str(tmp_path / "models"))
    assert texts(pressed(page, "download.look"))[0].endswith("On this machine: tiny.")


def test_one_comes_at_a_time_and_only_where_the_disk_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    comes, go = [], threading.Event()

    def fetch(coming: Coming, told: Callable[[int], None]) -> None:
        told(1_000_000)
        comes.append(coming)
        assert go.wait(30)

    monkeypatch.setattr(download_module, "fetch", fetch)
    model_download.begin(SMALL)
    with pytest.raises(FileError, match="'someone/small' is being downloaded, and one model comes at a time"):
        model_download.begin(LARGE)
    go.set()
    model_download.queue.jobs[model_download.PLACE].outcome()
    large = Coming("hf:someone/large", {"model.safetensors": 10**18}, "", "")
    with pytest.raises(FileError, match=r"'someone/large' has 1,000,000,000 GB, but .* of the disk are free"):
        model_download.begin(large)
    assert comes == [SMALL]


def test_a_model_comes_and_is_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    families.save("gpt2", tmp_path / "hub" / "someone" / "tiny")
    with small_hub.serving(tmp_path / "hub") as hub:
        hub.pause = 0.3
        page = pressed(pressed(asked("someone/tiny"), "download.look"), "download.start")
        assert keys(page) == ["download.stop"]
        pressed(page, "download.stop")
        assert model_download.queue.jobs[model_download.PLACE].done.wait(60)
        page.run()
        assert "'someone/tiny' was stopped; its whole files stay for next time." in written(page)
        hub.pause = 0
        pressed(pressed(page, "download.look"), "download.start")
        assert model_download.queue.jobs[model_download.PLACE].done.wait(60)
    page.run()
    assert keys(page) == ["download.open"]
    pressed(page, "download.open")
    assert page.session_state.model == "hf:someone/tiny"
