"""Every finding is declared whole, and refuses what it cannot be measured on in one sentence."""

import re

import pytest

from models import load_model
from models.findings import findings

UNFIT = {
    "positional": "digits-classifier",
    "sinks": "sentiment",
    "rollout": "shakespeare",
    "explanation": "masked",
}
NAMES = sorted(findings())


@pytest.mark.parametrize("name", NAMES)
def test_it_names_its_paper_and_its_rule(name: str) -> None:
    finding = findings()[name]
    assert finding.name == name
    assert re.search(r"[12]\d{3}", finding.paper), finding.paper
    assert finding.claim.endswith(".") and finding.caveat.endswith(".")
    assert not finding.rule.endswith(".")
    for parameter in finding.parameters:
        if parameter.choices:
            assert parameter.default in parameter.choices
        else:
            assert parameter.low <= parameter.default <= parameter.high


@pytest.mark.parametrize("name", [name for name in NAMES if name in UNFIT])
def test_a_model_that_does_not_fit_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{UNFIT[name]}' .*choose"):
        findings()[name].measured(load_model(UNFIT[name]))


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="'depth' is no parameter of finding 'sinks'; it has tokens, texts"):
        findings()["sinks"].measured(load_model("shakespeare"), depth=3)


def test_whoever_hears_of_the_progress_can_end_it() -> None:
    told: list[float] = []

    def tell(share: float) -> None:
        told.append(share)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        findings()["positional"].measured(load_model("shakespeare"), tell, texts=10)
    assert told == [0.1, 0.2]
