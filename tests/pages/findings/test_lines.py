"""The lines of Python that a visitor takes away from a finding."""

from types import SimpleNamespace
from typing import Any

import pytest

from models.findings import Finding, findings
from pages.findings import lines
from pages.findings.lines import lines_of
from pages.findings.working import Asked


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
    exec(lines_of(finding, Asked(name, usual, 0, given)), scope)
    assert asked_of == [(name, usual or None, dict(given))]
    assert capsys.readouterr().out == "Measured.\n"
    assert all(function.__name__ in scope for function in finding.code)


@pytest.mark.parametrize("name", ["lm", "model"])
def test_a_model_is_loaded_as_the_lines_of_its_trace_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loading = f"from models import load_model\nfrom somewhere import root\n{name} = load_model(root() / 'a')"
    model = SimpleNamespace(code=lambda text: f"{loading}\ntrace = {name}.trace({text!r})")
    monkeypatch.setattr(lines.cache, "model", lambda asked: model)
    said = lines_of(findings()["sinks"], Asked("sinks", "run:a", 0, (("texts", 2),)))
    assert said.startswith(f"{loading}\nfrom models.findings import findings\n\n")
    assert f"outcome = finding.measured({name}, texts=2)\n" in said
