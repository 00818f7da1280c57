"""Outcomes that ship: of each finding about a shipped model as it stands, so that a page opens it at once.

They are what `Finding.measured` gives, as a test says; there are no films among them, which are read quickly.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import torch

from ..files import read_json
from ..zoo.folders import shipped_names
from . import Chart, Finding, Number, Outcome, findings

RESULT = Path(__file__).with_suffix(".json")


def measured_beforehand(finding: Finding, model: str, parameters: Mapping[str, Any]) -> Outcome | None:
    """The outcome that ships; None for another model, other parameters, and a finding that has none."""
    is_usual = all(each.default == parameters.get(name) for name, each in finding.parameters.items())
    return _kept().get(finding.name) if is_usual and model == finding.model else None


@cache
def _kept() -> dict[str, Outcome]:
    return {name: _outcome(each) for name, each in read_json(RESULT).items()}


def _outcome(kept: dict[str, Any]) -> Outcome:
    numbers = tuple(Number(**each) for each in kept["numbers"])
    charts = tuple(Chart(**each | {"line": each["line"] and tuple(each["line"])}) for each in kept["charts"])
    return Outcome(numbers=numbers, holds=kept["holds"], said=kept["said"], charts=charts)


def measure_anew() -> dict[str, Any]:
    """What ships."""
    torch.set_num_threads(1)
    outcomes = {}
    for name, finding in findings().items():
        if finding.model not in ("", *shipped_names()):
            continue
        outcome = finding.measured()
        if outcome.film is None:
            outcomes[name] = {field: value for field, value in asdict(outcome).items() if field != "film"}
    return outcomes
