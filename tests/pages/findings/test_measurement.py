"""Measurements in their thread: kept, stopped, and refused where too many wait."""

from types import SimpleNamespace
from typing import Any

import pytest

from models.findings import Finding, findings
from pages.findings import measurement
from pages.findings.measurement import FindingJob, FindingRequest, lines_of
from pages.shared import cache
from pages.shared.work import MOST_WAITING

FEW = FindingRequest("positional", "shakespeare", 0, (("texts", 5),))


@pytest.fixture(autouse=True)
def nothing_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement.jobs, "works", {})
    cache.results.drop()


def test_an_outcome_is_kept_for_the_next_visitor() -> None:
    work = measurement.ask(FEW, "one")
    assert work.done.wait(60)
    assert not work.problem
    assert work.outcome is not None and work.outcome.holds
    assert measurement.ask(FEW, "one") is work
    other = measurement.ask(FEW, "two")
    assert other.done.is_set()
    assert other.outcome is work.outcome


def test_a_new_wish_stops_the_one_before() -> None:
    first = measurement.ask(FindingRequest("explanation", "sentiment", 0, ()), "one")
    second = measurement.ask(FEW, "one")
    assert first.done.wait(60) and second.done.wait(60)
    assert first.problem == "It was stopped."
    assert first.outcome is None and second.outcome is not None


def test_what_cannot_be_measured_is_said() -> None:
    work = measurement.ask(FindingRequest("rollout", "shakespeare", 0, ()), "one")
    assert work.done.wait(60)
    assert "'shakespeare' gives no single answer to a text; choose a model that classifies" in work.problem


def test_too_many_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = {str(at): FindingJob(asked=FEW) for at in range(MOST_WAITING)}
    monkeypatch.setattr(measurement.jobs, "works", waiting)
    with pytest.raises(ValueError, match="8 findings are waiting, at most 8 may; try again later"):
        measurement.ask(FEW, "late")


def test_an_outcome_counts_as_many_bytes_as_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(cache.results, "put", lambda key, value, size: sizes.append(size))
    work = measurement.ask(FindingRequest("induction", "", 0, ()), "one")
    assert work.done.wait(60)
    assert work.outcome is not None and work.outcome.film is not None
    assert sizes[0] > work.outcome.film.patterns.nbytes > 100_000


def test_an_error_of_the_measurement_s_own_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(name: str) -> None:
        raise RuntimeError("shapes")

    monkeypatch.setattr(measurement.cache, "model", fails)
    work = measurement.ask(FEW, "one")
    assert work.done.wait(60)
    assert work.problem.startswith("This met an error of its own (RuntimeError); choose another")


@pytest.mark.parametrize("name", list(findings()))
def test_the_lines_run_to_their_end_and_measure_what_was_asked(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finding, asked_of = findings()[name], []

    def measured(self: Finding, model: Any, **parameters: Any) -> Any:
        asked_of.append((self.name, getattr(model, "name", None), parameters))
        return SimpleNamespace(said="Measured.")

    monkeypatch.setattr(Finding, "measured", measured)
    usual = "shakespeare" if finding.model.startswith("hf:") else finding.model
    given = tuple((each.name, each.default) for each in finding.parameters)
    scope: dict[str, Any] = {"__name__": "lines"}
    exec(lines_of(finding, FindingRequest(name, usual, 0, given)), scope)
    assert asked_of == [(name, usual or None, dict(given))]
    assert capsys.readouterr().out == "Measured.\n"
    assert all(function.__name__ in scope for function in finding.code)


@pytest.mark.parametrize("name", ["lm", "model"])
def test_a_model_is_loaded_as_the_lines_of_its_trace_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loading = f"from models import load_model\nfrom somewhere import root\n{name} = load_model(root() / 'a')"
    model = SimpleNamespace(code=lambda text: f"{loading}\ntrace = {name}.trace({text!r})")
    monkeypatch.setattr(measurement.cache, "model", lambda asked: model)
    said = lines_of(findings()["sinks"], FindingRequest("sinks", "run:a", 0, (("texts", 2),)))
    assert said.startswith(f"{loading}\nfrom models.findings import findings\n\n")
    assert f"outcome = finding.measured({name}, texts=2)\n" in said
