"""What a link to a finding holds: which one, on which model, and what the visitor changed in it."""

from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

import streamlit as st

from attention_lab.models.fields import Field, one_of, whole
from attention_lab.models.findings import Finding, findings
from attention_lab.models.zoo.catalogue import HUB, offer_of
from attention_lab.models.zoo.hub.model_folder import check_memory, open_folder
from attention_lab.pages.findings.measurement import FindingRequest
from attention_lab.pages.shared import on_offer
from attention_lab.pages.shared.state import State

PAGE = "findings"
FIRST = "induction"
SHARE = {"step": 0.01, "format": "%g"}
MOST_STEPS = 10_000_000


def page() -> State:
    return State(PAGE, _params())


def enter() -> None:
    """Takes the link's values on arrival. Older links leave out rollout, which came first then."""
    link = st.query_params
    if "finding" not in link and any(name.startswith("rollout_") for name in link):
        link["finding"] = "rollout"
    page().enter()


@cache
def _params() -> dict[str, Field]:
    """The finding that is shown, the step of its film, and of each finding its model and parameters, whose
    names begin with its own.
    """
    names = sorted(findings(), key=lambda name: name != FIRST)
    params = {"finding": Field(FIRST, one_of(names), "Finding", more={"label_visibility": "collapsed"})}
    params["step"] = Field(0, whole(0, MOST_STEPS))
    for finding in findings().values():
        if finding.model:
            words = f"the name of {finding.needs} that is on offer here"
            rule = on_offer.model_rule(words, partial(fits, finding), always=[finding.model])
            needs = f"It needs {finding.needs}."
            params[_field(finding, "model")] = Field(finding.model, rule, "Model", needs, control="list")
        for name, each in finding.parameters.items():  # a number that is not whole in steps of a hundredth
            is_share = isinstance(each.default, float)
            params[_field(finding, name)] = replace(each, more=SHARE) if is_share else each
    return params


def _field(finding: Finding, name: str) -> str:
    return f"{finding.name}_{name}"


def fits(finding: Finding, name: str) -> bool:
    """Whether a model may be one that a finding can be measured on."""
    offer = offer_of(name)
    return offer is not None and offer.reads not in ("picture", "any picture") and finding.fits(offer.sizes)


def models_for(finding: Finding) -> list[str]:
    """The models to choose from, the finding's own first."""
    fitting = (name for name in on_offer.listed() if fits(finding, name))
    return list(dict.fromkeys([finding.model, *fitting]))


def offered(finding: Finding, field: str) -> dict[str, Any]:
    """What the widget of an input is given besides what is declared: of the model, those that there are."""
    if field != _field(finding, "model"):
        return {}
    return on_offer.menu(models_for(finding), page().kept[field])


def fields(finding: Finding) -> list[str]:
    """The inputs of a finding, its model first, where one can be chosen."""
    names = [*(["model"] if finding.model else []), *finding.parameters]
    return [_field(finding, name) for name in names]


def lacking(finding: Finding, inputs: dict[str, Any]) -> str:
    """The model of transformers that is asked for and not on this machine; "" where none is."""
    model = inputs[_field(finding, "model")] if finding.model else ""
    return model if HUB.fullmatch(model) and offer_of(model) is None else ""


def listed(name: str) -> str:
    """What the list of findings calls one, with what to download or install where it cannot be measured."""
    finding, kept = findings()[name], page().kept
    try:
        request(finding, kept)
    except ValueError:
        missing = (package for package in finding.packages if find_spec(package) is None)
        wanted = next(missing, lacking(finding, kept)).removeprefix("hf:")
        return f"{finding.title} · needs {wanted}" if wanted else f"{finding.title} · not here"
    return finding.title


def values(finding: Finding, inputs: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a finding as they are in force."""
    return {name: inputs[_field(finding, name)] for name in finding.parameters}


def request(finding: Finding, inputs: dict[str, Any]) -> FindingRequest:
    """What is to be measured. Raises ValueError where the limits or this machine lack what it needs."""
    model = inputs[_field(finding, "model")] if finding.model else ""
    if model and not on_offer.may_open(model):
        lacking = f"{model!r} is not among the models on offer here"
        why = on_offer.why_not(model) if HUB.fullmatch(model) else lacking
        raise ValueError(f"{why}. This finding needs {finding.needs}: choose one.")
    offer = offer_of(model) if model else None
    needed = [*finding.packages, *(["transformers"] if HUB.fullmatch(model) else [])]
    for package in needed:
        if find_spec(package) is None:
            raise ValueError(f"{package} is not installed here; pip install {package}")
    if HUB.fullmatch(model):
        check_memory(open_folder(model))
    parameters = tuple(values(finding, inputs).items())
    return FindingRequest(finding.name, model, offer.stamp if offer else 0, parameters)
