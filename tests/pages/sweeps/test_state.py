"""What the form asks for, and what it refuses."""

from typing import Any

import pytest

from attention_lab.models.fields import read_link
from attention_lab.models.sweeps import Choices, Range, parse
from attention_lab.models.sweeps.plan import Configs
from attention_lab.models.training.config import run_config
from attention_lab.pages.shared.training import settings, tasks_on_offer
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo
from attention_lab.pages.sweeps import state


@pytest.fixture(scope="module")
def reverse() -> TaskInfo:
    return tasks_on_offer.tasks()["reverse"]


def form(info: TaskInfo, **changed: Any) -> dict[str, Any]:
    """The form of a first visit with some values changed."""
    return {name: spec.default for name, spec in state.form_of(info).params.items()} | changed


def spec_of(info: TaskInfo, **changed: Any):
    return state.spec_of(info, settings.defaults(info), form(info, **changed))


def test_rows_are_what_varies(reverse: TaskInfo) -> None:
    spec = spec_of(
        reverse, rows=3, vary1="n_heads", values1="1, 2,4",
        vary2="learning_rate", values2="1e-4 to 0.01",
        vary3="n_layers", values3="1 to 4", seeds=5, sampler="random", trials=7, prune="asha",
    )  # fmt: skip
    assert spec.space == {
        "n_heads": Choices((1, 2, 4)),
        "learning_rate": Range("log", 1e-4, 0.01), "n_layers": Range("int", 1, 4),
    }  # fmt: skip
    assert (spec.task, spec.seeds, spec.sampler, spec.trials, spec.prune) == (
        "reverse",
        5,
        "random",
        7,
        "asha",
    )
    assert spec.fixed == {}


def test_words_and_switches_are_values_too(reverse: TaskInfo) -> None:
    spec = spec_of(reverse, rows=2, vary1="norm", values1="pre, post",
                   vary2="gradient_checkpointing", values2="True, False")  # fmt: skip
    assert spec.space["norm"] == Choices(("pre", "post"))
    assert spec.space["gradient_checkpointing"] == Choices((True, False))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("n_heads", "1, 65"), "Heads: '65' is not a whole number from 1 to 64; change it"),
        (("n_heads", " , "), "Heads: no value is given; write some"),
        (("norm", "pre to post"), "Norm: 'pre to post' is not one of pre, post, after, both; change it"),
        (("learning_rate", "nan"), "Learning rate: 'nan' is not a number from"),
    ],
)  # fmt: skip
def test_what_is_no_sweep_is_refused_in_a_sentence(
    reverse: TaskInfo, row: tuple[str, ...], said: str
) -> None:
    changed = dict(zip(("vary1", "values1"), row, strict=True))
    with pytest.raises(ValueError) as refused:
        spec_of(reverse, **changed)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("learning_rate", "0.001 bis 0.01", "log"), ("dropout", "0 to 0.5", "uniform"),
        ("dropout", "0.2..0.4", "uniform"), ("learning_rate", "uniform(0.001, 0.1)", "uniform"),
        ("n_layers", "1 à 4", "int"),
    ],
)  # fmt: skip
def test_the_ends_of_a_range_say_how_it_is_drawn(reverse: TaskInfo, name: str, text: str, kind: str) -> None:
    varied = spec_of(reverse, vary1=name, values1=text).space[name]
    assert isinstance(varied, Range) and varied.kind == kind


def test_a_setting_varies_once(reverse: TaskInfo) -> None:
    with pytest.raises(ValueError, match="Heads stands in two rows; write all its values in one"):
        spec_of(reverse, rows=2, vary1="n_heads", vary2="n_heads", values2="1, 2")
    with pytest.raises(
        ValueError, match=r"use up to 48 small letters, digits and hyphens, such as 'my-sweep'"
    ):
        spec_of(reverse, name="My sweep!")


def test_a_setting_that_varies_is_not_fixed_and_the_rest_is_as_on_train(reverse: TaskInfo) -> None:
    values = settings.defaults(reverse) | {"n_heads": 8, "steps": 30, "d_ff": 32}
    spec = state.spec_of(reverse, values, form(reverse, vary1="n_heads", values1="1, 2"))
    assert spec.fixed == {"steps": 30, "d_ff": 32}
    config = Configs(spec).run({"n_heads": 2}, seed=1)
    assert config == settings.run_config(reverse, values | {"n_heads": 2, "seed": 1})


@pytest.mark.parametrize("name", ["reverse", "induction", "masked", "translation", "long-context"])
def test_unchanged_settings_are_the_tasks_own_run(name: str) -> None:
    info = tasks_on_offer.tasks()[name]
    spec = spec_of(info)
    settings_of_first = {each: found.values[0] for each, found in spec.space.items()}
    config = Configs(spec).run(settings_of_first)
    assert config == run_config(
        config.task,
        sizes={k: v for k, v in settings_of_first.items() if k in settings.size_names(info)},
        training={k: v for k, v in settings_of_first.items() if k in settings.training_names()},
    )


def test_the_forms_own_fields_are_no_settings_of_any_task() -> None:
    for info in tasks_on_offer.tasks().values():
        own = {*state.form_of(info).params, *state.page().params}
        assert not own & {*settings.declared(info)}, info.name
        for name in state.varied_settings(info):  # what a row begins with is a sweep
            values, rule = state.usual_variation(info, name), settings.declared(info)[name].rule
            if values.strip():
                state.variation(name, values, rule)


def test_a_link_holds_the_whole_form_and_a_spec_makes_it_again(reverse: TaskInfo) -> None:
    fixed, space = parse(["steps=30", "d_ff=none", "n_heads=1,2", "learning_rate=log(1e-4,1e-2)"])
    spec = spec_of(reverse)
    spec = type(spec)(
        task="reverse", fixed=fixed, space=space, seeds=4, trials=12, sampler="tpe", prune="asha"
    )
    values, shown = state.form_of_spec(reverse, spec)
    again = state.spec_of(reverse, settings.defaults(reverse) | values, form(reverse, **shown))
    assert (again.space, again.seeds, again.trials, again.sampler, again.prune) == (
        spec.space, 4, 12, "tpe", "asha",
    )  # fmt: skip
    assert again.fixed == {"steps": 30}
    read, problems = read_link(
        state.form_of(reverse).params, {name: str(value) for name, value in shown.items()}
    )
    assert read == shown and not problems
