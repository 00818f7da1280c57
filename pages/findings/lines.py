"""The lines of Python that measure a finding again, and the functions that make its numbers."""

from __future__ import annotations

import inspect

from models.findings import Finding
from pages.findings.working import Asked
from pages.shared import cache


def lines_of(finding: Finding, asked: Asked) -> str:
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


def _loading(asked: Asked) -> tuple[str, str]:
    """The lines that load the model, as those have it that trace it, and the name that it has in them."""
    if not asked.model:
        return "", "None"
    loading, tracing = cache.model(asked.model).code("").rsplit("\ntrace = ", 1)
    return f"{loading}\n", tracing.split(".", 1)[0]
