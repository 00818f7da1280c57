"""What each held-out example added to a run's score, from its report: two single runs are compared by it."""

from collections.abc import Mapping, Sequence
from typing import Any

from models.runs.folder import RunFolder
from models.runs.report import read_report
from models.runs.results import Result
from models.runs.verdicts import Outcomes

HELD_OUT, LARGEST = "held out", 1e30


def outcomes_in(folders: Mapping[str, RunFolder]) -> Outcomes:
    """Looks examples up in the reports of these folders, by the runs' ids; None where a report has none."""

    def look(run: Result, score: str) -> tuple[Sequence[float], Sequence[float]] | None:
        folder = folders.get(run.id)
        if folder is None:
            return None
        try:
            report = read_report(folder)
        except ValueError:
            return None
        return of_report(report, score) if report.get("step") == run.step else None

    return look


def of_report(report: Mapping[str, Any], score: str) -> tuple[list[float], list[float]] | None:
    """The sums of each held-out example and what they are divided by; None where the report has no such."""
    found: Any = report
    for name in ("parts", HELD_OUT, "outcomes", score):
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, list) or len(found) != 2 or not all(isinstance(each, list) for each in found):
        return None
    above, below = found
    if not all(isinstance(value, int | float) and abs(value) < LARGEST for value in (*above, *below)):
        return None
    sums, parts = list(map(float, above)), list(map(float, below))
    return (sums, parts) if len(sums) == len(parts) and sum(parts) > 0 else None
