"""What can be opened by a name: what ships, what is registered, runs, and nothing else."""

import inspect
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from attention_lab.models import list_models
from attention_lab.models.config import POSITION_SCHEMES
from attention_lab.models.data.tasks import TASKS
from attention_lab.models.engine import masks
from attention_lab.models.mask_names import MASK_TITLES, MASKS
from attention_lab.models.zoo import catalogue as zoo
from attention_lab.models.zoo.catalogue import OF_TASK, Offer, offer_of, offers, register
from attention_lab.models.zoo.engine_model import UntrainedModel
from attention_lab.models.zoo.families import FAMILIES
from tests.pages.shared.runs import write_run


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "runs"
    root.mkdir()
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(root))
    return root


def test_every_shipped_model_is_offered_the_translator_first() -> None:
    assert next(iter(offers())) == "translator"
    names = [*(model.name for model in list_models()), *FAMILIES, "untrained"]
    assert sorted(offers()) == sorted(names)
    for name, offer in offers().items():
        assert offer_of(name) == offer
        assert offer.title


def test_a_run_opens_on_every_head_with_what_was_watched_in_training(runs: Path) -> None:
    model = write_run(runs, "reverse", "reverse-1")
    assert model not in offers()
    offer = offer_of(model)
    assert offer is not None
    assert offer.title == "run: reverse-1"
    assert offer.story == {"view": "grid", "stack": "decoder.self"}
    assert offer.text.endswith("=")
    assert [example["text"] for example in offer.examples] == [offer.text]
    assert offer.reads == "text"
    pictures = offer_of(write_run(runs, "digits-classifier"))
    assert pictures is not None
    assert pictures.reads == "picture"
    assert pictures.story["stack"] == "encoder.self"


def test_the_translator_opens_on_the_head_of_its_card() -> None:
    offer = offers()["translator"]
    (card,) = (card for card in list_models() if card.name == "translator")
    assert offer.story == {"view": "lines", **card.showcase}
    assert offer.text == "the animal did not cross the street because it was too tired"
    assert {language: len(words) for language, words in offer.words.items()} == {
        "English": 647,
        "French": 966,
    }


def test_the_untrained_model_reads_the_translators_texts_and_has_every_size_as_a_setting() -> None:
    offer, translator = offers()["untrained"], offers()["translator"]
    texts = [example["text"] for example in translator.examples]
    assert (offer.memory, offer.text) == ("translator", translator.text)
    assert [example["text"] for example in offer.examples] == texts
    settings = {setting.name: setting for setting in offer.settings}
    assert settings["positions"].rule.options is POSITION_SCHEMES
    assert {masks.kind_of(mask) for mask in settings["mask"].rule.options} == set(MASKS)
    built = {name: setting.default for name, setting in settings.items() if setting.builds}
    model = offer.load(**built)
    assert isinstance(model, UntrainedModel)
    assert (model.config.n_layers, model.config.n_heads, model.config.d_head) == (2, 4, 16)
    takes = {mask for mask in MASK_TITLES if MASKS[mask.removeprefix("causal+")].rule}
    assert set(settings["mask_arg"].arguments) == {mask for mask in takes if "padding" not in mask}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("head_gate", "channel"), ("value_residual", True), ("exclusive", True), ("differential", True),
        ("depth_attention", True), ("n_kv_heads", 2), ("normalizer", "sigmoid"), ("d_latent", 8),
        ("local_window", 2), ("qk_norm", "head"), ("norm_type", "rms"), ("gated", True), ("parallel", True),
    ],
)  # fmt: skip
def test_the_untrained_model_has_the_parts_of_newer_ones_as_settings(name: str, value: Any) -> None:
    offer = offers()["untrained"]
    settings = {setting.name: setting for setting in offer.settings}
    built = {each.name: each.default for each in offer.settings if each.builds}
    assert settings[name].rule.fits(value) and settings[name].rule.parsed(str(value)) == value
    plain, other = offer.load(**built), offer.load(**built | {name: value})
    assert getattr(other.config, name) == value
    assert not plain.trace("a b c")["logits"].equal(other.trace("a b c")["logits"])
    namespace: dict[str, Any] = {}
    exec(other.code("a b c"), namespace)  # what is taken away makes the same model
    assert namespace["trace"]["logits"].equal(other.trace("a b c")["logits"])
    assert f"{name}={value!r}" in other.code("a b c") and name not in plain.code("a b c")


def test_settings_of_tasks_are_keywords_of_their_reading() -> None:
    """Of every task: one that reads with a setting that is not declared would not be offered it."""
    for name, task in TASKS.items():
        known = inspect.signature(task.read_by).parameters
        declared = {setting.name for setting in OF_TASK.get(name, ())}
        assert declared == set(known) - {"self", "model", "text"}


@pytest.mark.parametrize("raw", ["gpt-9", "", "run:", "run:../etc"])
def test_other_names_are_none(raw: str) -> None:
    assert offer_of(raw) is None


def test_a_run_without_checkpoint_or_with_a_damaged_config_is_not_offered(runs: Path) -> None:
    model = write_run(runs, "reverse")
    config = (runs / "reverse" / "config.json").read_text()
    (runs / "reverse" / "config.json").write_text("{")
    assert offer_of(model) is None
    (runs / "reverse" / "config.json").write_text(config)
    assert offer_of(model) is not None
    (runs / "reverse" / "checkpoint.safetensors").unlink()
    assert offer_of(model) is None


def test_a_new_checkpoint_has_another_stamp(runs: Path) -> None:
    model = write_run(runs, "reverse")
    before = offer_of(model)
    path = runs / "reverse" / "checkpoint.safetensors"
    save_file(load_file(path), path)
    after = offer_of(model)
    assert before is not None and after is not None
    assert after.stamp > before.stamp > 0
    assert offers()["translator"].stamp == offers()["untrained"].stamp == 0


def test_what_is_registered_is_offered_under_a_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoo, "_REGISTERED", dict(zoo._REGISTERED))
    register(Offer(name="mine", load=lambda: pytest.fail("not yet")))
    offer = offer_of("mine")
    assert offer is not None
    assert (offer.title, offer.memory, list(offers())[-1]) == ("mine", "mine", "mine")
    with pytest.raises(ValueError, match="a model named 'mine' is there already; choose another name"):
        register(Offer(name="mine", load=lambda: pytest.fail("not yet")))
