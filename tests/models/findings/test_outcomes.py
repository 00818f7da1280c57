"""The outcomes that ship are those that are measured, and only of what they were measured on."""

import re
from dataclasses import replace

import pytest

from attention_lab.models import load_model
from attention_lab.models.findings import findings
from attention_lab.models.findings.outcomes import RESULT, measured_beforehand

BEFOREHAND = [name for name, each in findings().items() if not each.model.startswith("hf:")]
FILMS = ["grokking", "induction", "no-sink"]


def usual(name: str) -> dict[str, object]:
    return {field: each.default for field, each in findings()[name].parameters.items()}


@pytest.mark.parametrize("name", [name for name in BEFOREHAND if name not in FILMS])
def test_what_ships_is_what_is_measured(name: str) -> None:
    """Shares of some hundred words: on another processor, one may fall to the other side."""
    finding = findings()[name]
    known = measured_beforehand(finding, finding.model, usual(name))
    now = finding.measured(load_model(finding.model) if finding.model else None)
    assert known is not None and known.holds == now.holds
    assert re.sub(r"[\d.,]+", "", known.said) == re.sub(r"[\d.,]+", "", now.said)
    assert [replace(each, value=0) for each in known.numbers] == [
        replace(each, value=0) for each in now.numbers
    ]
    values = [each.value for each in now.numbers]
    assert [each.value for each in known.numbers] == pytest.approx(values, rel=0.02, abs=0.02, nan_ok=True)
    for ours, theirs in zip(known.charts, now.charts, strict=True):
        assert (ours.title, ours.x_label, ours.log_x) == (theirs.title, theirs.x_label, theirs.log_x)
        assert list(ours.x) == list(theirs.x) or isinstance(ours.x[0], str)  # the best heads, in their order
        for line, series in theirs.series.items():
            assert ours.series[line] == pytest.approx(list(series), rel=0.02, abs=0.02, nan_ok=True)


def test_films_other_models_and_other_parameters_are_measured_now() -> None:
    for name in FILMS:
        assert measured_beforehand(findings()[name], "", usual(name)) is None
    rollout, parameters = findings()["rollout"], usual("rollout")
    assert measured_beforehand(rollout, "sentiment", parameters) is None
    assert measured_beforehand(rollout, "verbs", parameters | {"texts": 59}) is None
    assert RESULT.stat().st_size < 50_000
