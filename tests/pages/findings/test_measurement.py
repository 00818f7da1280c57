"""Measurements in their thread: kept, stopped, and refused where too many wait."""

from types import SimpleNamespace
from typing import Any

import pytest

from attention_lab.models.findings import Finding, findings
from attention_lab.pages.findings import measurement
from attention_lab.pages.findings.measurement import FindingRequest, lines_of
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.work import Job

FEW = FindingRequest("positional", "shakespeare", 0, (("texts", 5),))


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    measurement.queue.jobs.clear()
    cache.results.drop()


def test_an_outcome_is_kept_for_the_next_visitor() -> None:
    job = measurement.queue.ask(FEW, "one")
    assert job.outcome().holds
    assert measurement.queue.ask(FEW, "one") is job
    other = measurement.queue.ask(FEW, "two")
    assert other.done.is_set() and other.result is job.result


def test_what_cannot_be_measured_is_said() -> None:
    with pytest.raises(
        ValueError, match="'shakespeare' gives no single answer to a text; choose a classifier"
    ):
        measurement.measure(Job(request=FindingRequest("rollout", "shakespeare", 0, ())))


def test_an_outcome_counts_as_many_bytes_as_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(cache.results, "put", lambda key, value, size: sizes.append(size))
    outcome = measurement.queue.ask(FindingRequest("induction", "", 0, ()), "one").outcome()
    assert sizes[0] > outcome.film.patterns.nbytes > 100_000


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
    given = tuple((field, each.default) for field, each in finding.parameters.items())
    scope: dict[str, Any] = {"__name__": "lines"}
    exec(lines_of(finding, FindingRequest(name, usual, 0, given)), scope)
    assert asked_of == [(name, usual or None, dict(given))]
    assert capsys.readouterr().out == "Measured.\n"
    assert all(function.__name__ in scope for function in finding.code)


@pytest.mark.parametrize("name", ["lm", "model"])
def test_a_model_is_loaded_as_the_lines_of_its_trace_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    imports = "from attention_lab.models import load_model\nfrom somewhere import root"
    loading = f"{imports}\n{name} = load_model(root() / 'a')"
    model = SimpleNamespace(code=lambda text: f"{loading}\ntrace = {name}.trace({text!r})")
    monkeypatch.setattr(measurement.cache, "model", lambda asked: model)
    said = lines_of(findings()["sinks"], FindingRequest("sinks", "run:a", 0, (("texts", 2),)))
    assert said.startswith(f"{loading}\nfrom attention_lab.models.findings import findings\n\n")
    assert f"outcome = finding.measured({name}, texts=2)\n" in said
