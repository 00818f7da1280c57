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
    rule, caveat = finding.words()
    assert finding.claim.endswith(".") and caveat.endswith(".") and not rule.endswith(".")
    assert not set("{}") & set(rule + caveat + finding.claim)
    for parameter in finding.parameters:
        if parameter.choices:
            assert parameter.default in parameter.choices
        else:
            assert parameter.low <= parameter.default <= parameter.high


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("positional", {"at_one_offset": 0.8}, "at one offset for 80% of the words"),
        ("rare-words", {"share": 0.25}, "the rarest word for 25% of the words or more"),
        ("sinks", {"first": 2, "sink": 0.4, "width": 8}, "first 2 tokens have a mean weight of 0.4 or more"),
        ("copy-suppression", {"lowest": 5}, "among the 5 it lowers most"),
        ("explanation", {"most": 0.05}, "move the answer by 0.05 at most"),
        ("induction", {"weight": 0.7}, "more than 0.7 of its weight"),
        ("grokking", {"right": 0.9, "times": 4.0, "waves": 7}, "90% of the held-out pairs are right 4 times"),
    ],
)
def test_the_rule_says_what_is_in_force(name: str, given: dict[str, float], said: str) -> None:
    rule, caveat = findings()[name].words(**given)
    assert said in rule and said not in findings()[name].words()[0]
    assert not set("{}") & set(rule + caveat)


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
