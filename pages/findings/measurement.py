"""Findings being measured: by a thread of their own, one after the other, told and stopped from the page;
and the lines of Python that measure one again, with the functions that make its numbers.
"""

import inspect
import pickle
from dataclasses import dataclass
from typing import Any

import attention_lab.models as _before_torch  # noqa: F401  (so that torch's idle threads sleep)
from attention_lab.models.findings import Finding, Outcome, findings
from attention_lab.models.findings.outcomes import measured_beforehand
from attention_lab.models.zoo.model import Model
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.work import Job, Queue


@dataclass(frozen=True)
class FindingRequest:
    """What a page wants measured. model: "" for a finding about runs. stamp: of the model's weights."""

    finding: str
    model: str
    stamp: int
    parameters: tuple[tuple[str, Any], ...]


def measure(job: Job) -> Outcome:
    """The outcome of a finding. Raises ValueError, with a sentence, where it cannot be measured."""
    request: FindingRequest = job.request
    finding, parameters = findings()[request.finding], dict(request.parameters)
    known = measured_beforehand(finding, request.model, parameters)
    return known or finding.measured(_model(request.model), job.tell, **parameters)


def _model(name: str) -> Model | None:
    return cache.model(name) if name else None


def usual_outcome(finding: Finding) -> Outcome:
    """A finding on its own model, with its own parameters."""
    usual = {name: each.default for name, each in finding.parameters.items()}
    return measured_beforehand(finding, finding.model, usual) or finding.measured(_model(finding.model))


queue = Queue(
    "findings", measure, doing="measures", smaller="take fewer texts or a smaller model",
    results=cache.results, size=lambda outcome: len(pickle.dumps(outcome)),
)  # fmt: skip


def lines_of(finding: Finding, request: FindingRequest) -> str:
    """They run as they stand: the functions come after, with all the names that they use."""
    loading, model = "", "None"
    if request.model:  # the lines that load the model, as those have it that trace it, and its name in them
        loading, tracing = cache.model(request.model).code("").rsplit("\ntrace = ", 1)
        loading, model = f"{loading}\n", tracing.split(".", 1)[0]
    arguments = "".join(f", {name}={value!r}" for name, value in request.parameters)
    measuring = (
        f"{loading}from attention_lab.models.findings import findings\n\n"
        f"finding = findings()[{finding.name!r}]\n"
        f"outcome = finding.measured({model}{arguments})\n"
        "print(outcome.said)\n"
    )
    modules = sorted({function.__module__ for function in finding.code})
    names = "".join(f"from {module} import *\n" for module in modules)
    sources = "\n\n".join(inspect.getsource(function) for function in finding.code)
    return f"{measuring}\n# What makes the numbers, with the names that it uses:\n{names}\n\n{sources}"
