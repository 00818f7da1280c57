from pathlib import Path

import pytest

from attention_lab.models.data.tasks import make_task
from attention_lab.models.fields import Option, characters, read_link
from attention_lab.models.runs import export
from attention_lab.models.training.config import run_config
from attention_lab.pages.shared.training import settings, tasks_on_offer, uploads


def shown(info: tasks_on_offer.TaskInfo, link: dict[str, str]) -> tuple[settings.Values, list[str]]:
    """What Train shows for a link."""
    values, problems = read_link(settings.declared(info), link)
    return settings.defaults(info) | values, problems


@pytest.fixture(scope="module")
def induction() -> tasks_on_offer.TaskInfo:
    return tasks_on_offer.tasks()["induction"]


def test_every_task_is_listed_with_all_its_options(induction: tasks_on_offer.TaskInfo) -> None:
    assert [option.name for option in induction.options] == ["length", "letters"]
    assert induction.options[0].rule.low == 4 and induction.options[0].help
    assert induction.label.startswith("Algorithms: ")
    for info in tasks_on_offer.tasks().values():
        assert info.title and info.see and info.about, info.name
        settings.defaults(info)


def test_the_defaults_are_the_task_s_own_run(induction: tasks_on_offer.TaskInfo) -> None:
    config = settings.run_config(induction, settings.defaults(induction))
    assert config == run_config(make_task("induction"))
    assert settings.to_link(induction, settings.defaults(induction)) == {"task": "induction"}


def test_an_encoder_says_what_its_export_as_a_bert_needs(induction: tasks_on_offer.TaskInfo) -> None:
    encoder = tasks_on_offer.tasks()["masked"]
    values = settings.defaults(encoder)
    for name in ("norm", "embedding_norm"):
        drawn = settings.declared(encoder)[name]
        assert "export as a BERT" in drawn.help
    for asked in ({}, {"norm": "post", "embedding_norm": True}):
        config = settings.run_config(encoder, values | asked)
        assert (export.refusal("transformers", config.model) == "") == bool(asked)
    drawn = settings.declared(induction)["norm"]
    assert "BERT" not in drawn.help and "embedding_norm" not in settings.defaults(induction)


def test_what_the_task_fixes_is_no_field_and_follows_from_its_options() -> None:
    info = tasks_on_offer.tasks()["long-context"]
    assert "positions" not in settings.size_names(info) and "n_layers" in settings.size_names(info)
    for attention, positions in (("transformer-xl", "transformer-xl"), ("fixed", "rotary")):
        values = settings.defaults(info) | {"attention": attention}
        assert settings.run_config(info, values).model.positions == positions
    assert info.fixes["positions"] == "transformer-xl's for transformer-xl, otherwise rotary"


def test_a_link_brings_back_the_settings_that_wrote_it(induction: tasks_on_offer.TaskInfo) -> None:
    values = settings.defaults(induction) | {
        "length": 12, "n_heads": 8, "learning_rate": 0.0005, "compile": True, "schedule": "warm-up",
        "normalizer": "sigmoid",
    }  # fmt: skip
    link = settings.to_link(induction, values)
    assert link == {
        "task": "induction", "length": "12", "n_heads": "8", "learning_rate": "0.0005",
        "compile": "True", "schedule": "warm-up", "normalizer": "sigmoid",
    }  # fmt: skip
    assert shown(induction, link) == (values, [])
    assert settings.run_config(induction, values).model.normalizer == "sigmoid"


def test_the_link_of_a_run_is_the_same_run_again(induction: tasks_on_offer.TaskInfo) -> None:
    config = run_config(
        make_task("induction", {"length": 9}), sizes={"n_layers": 3, "d_ff": 100}, training={"steps": 7}
    )
    link = settings.link_of_run(config.to_dict())
    assert link == {"task": "induction", "length": "9", "n_layers": "3", "d_ff": "100", "steps": "7"}
    values, problems = shown(induction, link)
    assert problems == [] and settings.run_config(induction, values) == config


def test_a_link_names_uploads_only_and_never_a_path(tmp_path: Path) -> None:
    option = Option("", characters(9), name="file", file=(".txt",))
    read = settings.option_rule(option).read
    for raw in ("/etc/passwd", "../config.json", "0" * 64 + ".txt"):
        with pytest.raises(ValueError):
            read(raw)
    name = uploads.keep(b"some text", "mine.TXT")
    assert read(name) == name and read("") == ""
