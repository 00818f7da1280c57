"""Findings being measured: by a thread of their own, one after the other, told and stopped from the page;
and the lines of Python that measure one again, with the functions that make its numbers.
"""

from __future__ import annotations

import inspect
import pickle
from dataclasses import dataclass
from typing import Any

import models as _before_torch  # noqa: F401  (so that torch's idle threads sleep)
from models.findings import Finding, Outcome, findings
from pages.shared import cache
from pages.shared.work import Job, Jobs


@dataclass(frozen=True)
class FindingRequest:
    """What a page wants measured. model: "" for a finding about runs. stamp: of the model's weights."""

    finding: str
    model: str
    stamp: int
    parameters: tuple[tuple[str, Any], ...]


@dataclass(kw_only=True)
class FindingJob(Job):
    """One measurement on its way."""

    doing: str = "measures"
    outcome: Outcome | None = None


def ask(asked: FindingRequest, page: str) -> FindingJob:
    """The work on a page's wish, as `Wishes.ask` has it; one that was measured already is done at once."""
    work, kept = FindingJob(asked=asked), cache.results.get(asked)
    if kept is not None:
        work.share, work.outcome = 1.0, kept
        work.done.set()
    return jobs.ask(work, page)


def _work(work: FindingJob) -> None:
    asked: FindingRequest = work.asked
    model = cache.model(asked.model) if asked.model else None
    outcome = findings()[asked.finding].measured(model, work.tell, **dict(asked.parameters))
    cache.results.put(asked, outcome, len(pickle.dumps(outcome)))
    work.tell(1.0)
    work.outcome = outcome


jobs = Jobs("findings", _work, "fewer texts")
forget = jobs.forget


def lines_of(finding: Finding, asked: FindingRequest) -> str:
    """They run as they stand: the functions come after, with all the names that they use."""
    loading, model = _loading(asked)
    given = "".join(f", {name}={value!r}" for name, value in asked.parameters)
    measuring = (
        f"{loading}from models.findings import findings\n\n"
        f"finding = findings()[{finding.name!r}]\n"
        f"outcome = finding.measured({model}{given})\n"
        "print(outcome.said)\n"
    )
    modules = sorted({function.__module__ for function in finding.code})
    names = "".join(f"from {module} import *\n" for module in modules)
    sources = "\n\n".join(inspect.getsource(function) for function in finding.code)
    return f"{measuring}\n# What makes the numbers, with the names that it uses:\n{names}\n\n{sources}"


def _loading(asked: FindingRequest) -> tuple[str, str]:
    """The lines that load the model, as those have it that trace it, and the name that it has in them."""
    if not asked.model:
        return "", "None"
    loading, tracing = cache.model(asked.model).code("").rsplit("\ntrace = ", 1)
    return f"{loading}\n", tracing.split(".", 1)[0]
