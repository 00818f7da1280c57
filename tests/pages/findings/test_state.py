"""What a link to a finding may hold."""

from types import SimpleNamespace

import pytest

from attention_lab.models.fields import read_link
from attention_lab.models.findings import findings
from attention_lab.pages.findings import state
from attention_lab.pages.shared import on_offer

PARAMS = state.page().params


def test_a_link_names_the_finding_its_model_and_its_parameters() -> None:
    link = {"finding": "sinks", "sinks_model": "long-memory", "sinks_width": "24", "sinks_sink": "0.5"}
    values, problems = read_link(PARAMS, link)
    assert not problems
    assert values == {
        "finding": "sinks", "sinks_model": "long-memory", "sinks_width": 24, "sinks_sink": 0.5,
    }  # fmt: skip
    kept = {name: each.default for name, each in PARAMS.items()} | values
    asked = state.request(findings()["sinks"], kept)
    assert (asked.finding, asked.model) == ("sinks", "long-memory")
    assert dict(asked.parameters) == {"tokens": 64, "texts": 20, "first": 4, "sink": 0.5, "width": 24}


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("finding", "magic", "is not one of "),
        ("sinks_model", "sentiment", "is not the name of a decoder-only model of English sentences"),
        ("rollout_model", "nobody", "is not the name of an encoder that gives one answer to a text"),
        ("rollout_texts", "1000000", "is not a whole number from 5 to 200"),

    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_a_sentence(name: str, value: str, rule: str) -> None:
    values, problems = read_link(PARAMS, {name: value})
    assert not values
    (said,) = problems
    assert said.startswith(f"The link's {name}='{value}' {rule}")
    assert said.endswith("; its default is shown.")


def test_only_models_that_may_fit_are_offered() -> None:
    assert state.models_for(findings()["rollout"])[:1] == ["verbs"]
    assert "sentiment" in state.models_for(findings()["rollout"])
    assert "shakespeare" not in state.models_for(findings()["rollout"])
    assert {"shakespeare", "long-memory"} <= set(state.models_for(findings()["sinks"]))
    assert not {"digits-classifier", "sentiment"} & set(state.models_for(findings()["sinks"]))


def test_a_finding_about_runs_has_no_model_to_choose() -> None:
    kept = {name: each.default for name, each in PARAMS.items()}
    assert "induction_model" not in PARAMS
    assert state.fields(findings()["induction"]) == ["induction_weight"]
    assert state.request(findings()["induction"], kept).model == ""


def test_a_model_that_is_not_here_is_said_with_what_is_needed() -> None:
    kept = {name: each.default for name, each in PARAMS.items()}
    with pytest.raises(
        ValueError, match=r"'gpt2' is not on this machine; .*\. This finding needs a language model"
    ):
        state.request(findings()["indirect-object"], kept)


def test_the_limits_hold_for_the_usual_model_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_offer, "may_open", lambda name: name == "translator")
    kept = {name: each.default for name, each in PARAMS.items()}
    with pytest.raises(
        ValueError, match=r"'verbs' is not among the models on offer here\. This finding needs"
    ):
        state.request(findings()["rollout"], kept)


def test_the_list_begins_with_induction_and_marks_what_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    field = PARAMS["finding"]
    assert field.default == next(iter(field.rule.options)) == "induction"
    kept = {name: each.default for name, each in PARAMS.items()}
    monkeypatch.setattr(state, "page", lambda: SimpleNamespace(kept=kept))
    assert [name for name in findings() if state.listed(name).endswith(" · needs gpt2")] == [
        "copy-suppression", "indirect-object",
    ]  # fmt: skip
    assert state.lacking(findings()["indirect-object"], kept) == "hf:gpt2"
    kept["indirect-object_model"] = "shakespeare"
    assert state.listed("indirect-object") == "Indirect objects"
    assert state.lacking(findings()["indirect-object"], kept) == state.lacking(findings()["induction"], kept)
    monkeypatch.setattr(state, "find_spec", lambda name: None)
    assert state.listed("rollout").endswith(" · needs scipy")
    with pytest.raises(ValueError, match="scipy is not installed here; pip install scipy"):
        state.request(findings()["rollout"], kept)


def test_a_model_too_large_for_the_limits_is_told_before_it_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = {name: each.default for name, each in PARAMS.items()}
    folder = SimpleNamespace(title="gpt2", n_bytes=10**15)
    monkeypatch.setattr(on_offer, "may_open", lambda name: True)
    monkeypatch.setattr(state, "open_folder", lambda name: folder)
    with pytest.raises(ValueError, match=r"gpt2 needs about .* of memory, but at most"):
        state.request(findings()["indirect-object"], kept)


@pytest.mark.parametrize(("link", "finding"), [({"rollout_texts": "20"}, "rollout"), ({}, "induction")])
def test_an_older_link_to_rollout_does_not_name_it(
    link: dict[str, str], finding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state.st, "query_params", link)
    read = lambda: read_link(PARAMS, link)[0].get("finding", "induction")  # noqa: E731
    seen: list[str] = []
    monkeypatch.setattr(state, "page", lambda: SimpleNamespace(enter=lambda: seen.append(read())))
    state.enter()
    assert seen == [finding]
