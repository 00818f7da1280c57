"""What Explore offers, and that a link reaches nothing but shipped models and the runs of this machine."""

import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from models import list_models
from pages.shared import model_choice
from tests.pages.shared.runs import write_run


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "runs"
    root.mkdir()
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(root))
    return root


def test_every_shipped_model_is_offered_the_translator_first() -> None:
    offered = model_choice.offered()
    assert offered[0] == "translator"
    assert sorted(offered) == sorted([*(model.name for model in list_models()), "untrained"])
    for name in offered:
        assert model_choice.NAME.read(name) == name
        assert model_choice.title_of(name)


def test_a_run_is_offered_while_it_is_shown(runs: Path) -> None:
    model = write_run(runs, "reverse", "reverse-1")
    assert model_choice.offered(model)[-1] == model == "run:reverse-1"
    assert model not in model_choice.offered()
    assert model_choice.title_of(model) == "run: reverse-1"


def test_a_run_opens_on_every_head_with_what_was_watched_in_training(runs: Path) -> None:
    offer = model_choice.offer_of(write_run(runs, "reverse"))
    assert offer is not None
    assert offer.story == {"view": "grid", "stack": "decoder.self"}
    assert offer.text.endswith("=")
    assert [example["text"] for example in offer.examples] == [offer.text]
    assert not offer.reads_pictures
    pictures = model_choice.offer_of(write_run(runs, "digits-classifier"))
    assert pictures is not None
    assert pictures.reads_pictures
    assert pictures.story["stack"] == "encoder.self"


def test_the_translator_opens_on_the_head_of_its_card() -> None:
    offer = model_choice.offer_of("translator")
    assert offer is not None
    assert offer.story == {"view": "grid", **model_choice.card().showcase}
    assert offer.text == "the animal did not cross the street because it was too tired"


@pytest.mark.parametrize(
    "raw",
    [
        "gpt-9",
        "",
        "run:",
        "run:..",
        "run:../etc",
        "run:A",
        "run:a/b",
        "run:a b",
        "run:" + "a" * 121,
        "positions",
    ],
)
def test_other_names_are_refused(raw: str) -> None:
    with pytest.raises(ValueError):
        model_choice.NAME.read(raw)
    assert model_choice.offer_of(raw) is None


def test_what_leads_out_of_the_folder_of_runs_is_no_run(runs: Path, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    write_run(outside, "reverse")
    (runs / "link").symlink_to(outside / "reverse")
    assert model_choice.path_of("run:link") is None
    assert model_choice.offer_of("run:link") is None


def test_a_run_without_checkpoint_or_with_a_damaged_config_is_not_offered(runs: Path) -> None:
    model = write_run(runs, "reverse")
    (runs / "reverse" / "config.json").write_text("{")
    assert model_choice.offer_of(model) is None
    (runs / "reverse" / "checkpoint.safetensors").unlink()
    assert model_choice.path_of(model) is None
    assert model_choice.stamp_of(model) == 0


def test_a_new_checkpoint_has_another_stamp(runs: Path) -> None:
    model = write_run(runs, "reverse")
    before = model_choice.stamp_of(model)
    path = runs / "reverse" / "checkpoint.safetensors"
    save_file(load_file(path), path)
    assert model_choice.stamp_of(model) > before > 0
    assert model_choice.stamp_of("translator") == model_choice.stamp_of("untrained") == 0


def test_it_is_read_without_torch() -> None:
    lines = "from pages.shared import model_choice", "model_choice.offer_of('translator')"
    code = "; ".join(["import sys", *lines, "sys.exit('torch' in sys.modules)"])
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
