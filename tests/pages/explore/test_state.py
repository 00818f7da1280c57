from dataclasses import fields

import pytest

from attention_lab.models.fields import read_link
from attention_lab.models.interventions.head_sweep import CHANGES
from attention_lab.models.zoo.catalogue import offers
from attention_lab.pages.explore.state import FURTHER, SHOWCASE, Inputs, View, declared, write_link
from attention_lab.viz_core.viewer.program import OFFERED


def test_a_link_written_and_read_gives_the_same_inputs() -> None:
    inputs = Inputs(
        model="untrained",
        text="a ü 🙂 <b>",
        n_heads=8,
        d_head=32,
        attention_scale="0.5",
        seed=7,
        mask="edges",
        mask_arg="0-1 1-2",
    )
    values, problems = read_link(declared(inputs.model), write_link(inputs))
    assert problems == []
    assert Inputs(**values) == inputs


def test_a_link_holds_only_what_differs_from_the_defaults_and_matters_to_the_model() -> None:
    assert write_link(Inputs()) == {}
    assert write_link(Inputs(beam=3, padding=3, n_heads=8)) == {"beam": "3", "padding": "3"}
    assert write_link(Inputs(model="untrained", beam=3, n_heads=8)) == {"model": "untrained", "n_heads": "8"}


@pytest.mark.parametrize(
    ("name", "raw", "rule"),
    [
        ("n_heads", "17", "a whole number from 1 to 16"),
        ("n_heads", "", "a whole number from 1 to 16"),
        ("model", "gpt-9", "one of translator, untrained"),
        ("text", "x" * 20_001, "at most 20,000 characters"),
        ("mask", "banded", "one of none, causal, padding"),
        ("padding", "2", "one of 0, 3"),
    ],
)
def test_a_damaged_value_falls_back_and_is_named(name: str, raw: str, rule: str) -> None:
    model = "translator" if name in ("padding", "model") else "untrained"
    other = {"beam": "2"} if model == "translator" else {"n_layers": "3"}
    values, problems = read_link(declared(model), {"model": model, **other, name: raw})
    kept = {} if name == "model" else {"model": model}
    assert values == kept | {field: int(value) for field, value in other.items()}
    assert len(problems) == 1
    assert problems[0].startswith(f"The link's {name}={raw[:40]!r} is not {rule}")


def test_a_link_keeps_the_measure_the_order_and_the_filter() -> None:
    said = {"sort": "induction", "order": "layer", "keep": "top", "limit": "12"}
    values, problems = read_link(View, said)
    assert (values, problems) == ({"sort": "induction", "order": "layer", "keep": "top", "limit": 12}, [])
    assert read_link(View, {"sort": "distance"}) == ({"sort": "mean_distance"}, [])  # an earlier link
    values, problems = read_link(View, {"sort": "beauty", "keep": "some", "limit": "nan"})
    assert values == {} and len(problems) == 3
    assert problems[0].startswith("The link's sort='beauty' is not one of layer, entropy, confidence")


def test_the_views_part_of_a_link() -> None:
    values, problems = read_link(
        View, {"view": "head", "heads": "3.0.3", "q0": "128", "pinned": "key", "range": "none"}
    )
    assert values == {"view": "head", "heads": (0, 3), "q0": 128, "pinned": "key"}
    assert problems == ["The link's range='none' is not one of full, row, log; its default is shown."]


@pytest.mark.parametrize("heads", ["", ".", "1.x", "1.-2", "99999"])
def test_damaged_sets_of_heads_are_refused(heads: str) -> None:
    values, problems = read_link(View, {"heads": heads})
    assert values == {}
    assert "head numbers separated by dots" in problems[0]


def test_every_default_is_one_that_a_link_could_hold() -> None:
    for field in fields(View):
        if field.default not in (None, ()):
            assert field.metadata["field"].rule.read(str(field.default)) == field.default
    for offer in offers().values():
        for setting in offer.settings:
            assert setting.rule.read(str(setting.default)) == setting.default
            assert setting.rule.fits(setting.default)


def test_what_the_view_offers_is_what_python_knows() -> None:
    assert tuple(OFFERED["put"]["options"]) == CHANGES
    assert {"pattern", "scores", "dots", *FURTHER} == set(OFFERED["show"]["options"])
    assert all(1 <= len(words) <= 2 for each in OFFERED.values() for words in each["options"].values())


def test_inputs_keep_what_the_model_has_and_what_is_not_as_usual() -> None:
    inputs = Inputs(model="untrained", n_heads=8, mask="causal", beam=3, seed=0)
    assert inputs.overrides == (("n_heads", 8), ("mask", "causal"))
    assert inputs.settings["seed"] == 0 and inputs.settings["n_heads"] == 8
    assert inputs.reading == {"mask": "causal"}  # the others build the model
    assert Inputs().text == SHOWCASE


def test_a_link_names_a_part_of_the_view_and_a_setting_by_different_words() -> None:
    settings = {setting.name for offer in offers().values() for setting in offer.settings}
    assert not settings & {field.name for field in fields(View)}
