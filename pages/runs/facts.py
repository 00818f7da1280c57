"""What the list of runs says of a run beside its status: when it was made, whose it is, what it reached."""

from collections.abc import Mapping, Sequence
from typing import Any

from models.runs import owners
from models.runs.status import Status
from pages.shared import visitors
from pages.shared.training import curves
from pages.shared.training.runs import Run


def made(described: Mapping[str, Any]) -> str:
    """When a run was made, to the minute; "" where its config does not say."""
    return str(described.get("created", ""))[:16].replace("T", " ")


def whose(run: Run) -> str:
    """Whether it is this visitor's, and whether others see it."""
    owned, visitor = owners.owned(run.folder.path), visitors.visitor()
    if run.shipped:
        return "everybody's"
    if owners.is_of(run.folder.path, visitor):
        name = "yours"
    else:
        name = f"visitor {owned.owner[:6]}" if owned.owner else "the server's"
    return f"{name}, shared" if owned.shared else name


def last_score(entries: Sequence[curves.Entry]) -> tuple[str, float | None]:
    """The name of the main held-out score and its last value; "" and None where there is none yet."""
    for entry in reversed(entries):
        names = curves.scores_of([entry])
        if names:
            return names[0], curves.last([entry], curves.validated(names[0]))
    return "", None


def seconds(entries: Sequence[curves.Entry], status: Status) -> float:
    """How long a run has trained, in seconds."""
    return status.seconds or curves.last(entries, curves.of("seconds")) or 0.0
