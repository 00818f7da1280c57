"""The report of a run, `report.json` in its folder: scores of its model, with n and interval, and its errors.

It is written when a run has finished, and for any run with a checkpoint on Runs or by
`python -m attention_lab.models.training report`. It is read without torch.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..files import read_json_if_any, write_json
from .folder import REPORT, RunFolder

NEWEST = 1
MOST_COLUMNS = 6  # of a confusion matrix, that a terminal has room for


def read_report(folder: RunFolder) -> dict[str, Any]:
    """The report as it stands; {} where there is none. Raises FileError for one that is damaged or newer."""
    return read_json_if_any(folder.path / REPORT, newest=NEWEST)


def write_report(folder: RunFolder, *, examples: int = 0) -> dict[str, Any]:
    """Scores the run's last checkpoint, and writes and returns the report.

    examples: of the held-out part and of the test at most; 0 for as many as a validation reads. As many are
    read at once as in a step. Raises FileError for a run without a checkpoint, ValueError for a run whose
    data are gone or whose device is not there, WriteError where the disk refuses.
    """
    from ..scores.report import report
    from ..training.memory import choose
    from ..zoo.folders import CHECKPOINT
    from .checkpoints import read_step

    start, config = time.monotonic(), folder.config()
    if examples < 0:
        raise ValueError(f"examples={examples} is no number of examples; give 1 or more, or leave it out")
    machine = choose(config.training)
    model = folder.model().to(machine.device)
    how = config.training
    scores = report(config.task, model, examples=examples or how.held_out, at_once=how.n_at_once)
    scores["step"] = read_step(folder.path / CHECKPOINT)
    scores["made"] = datetime.now(UTC).isoformat(timespec="seconds")
    scores["seconds"] = round(time.monotonic() - start, 2)
    write_json(folder.path / REPORT, scores)
    return scores


def table(report: Mapping[str, Any]) -> str:
    """A report's scores as lines of text, a part after another; of a classifier also those of each class."""
    from .printing import align

    blocks = []
    for name, part in report["parts"].items():
        of = f" of {part['of']:,}" if part.get("of") else ""
        rows = [("SCORE", "VALUE", "95% INTERVAL", "N")]
        for entry in part["scores"]:
            name = f"{entry['name']} (of 100)" if entry.get("signature") else entry["name"]
            rows.append((name, value_of(entry), within(entry), f"{entry['n']:,}"))
        blocks.append(f"{name}: {part['n']:,}{of} {report.get('unit', 'examples')}\n{align(rows)}")
        if part.get("classes"):
            blocks.append(_classes(part["classes"]))
    how = sorted({e["method"] for part in report["parts"].values() for e in part["scores"] if e["method"]})
    signed = dict.fromkeys(
        f"{e['name']}: {e['signature']}"
        for part in report["parts"].values()
        for e in part["scores"]
        if e.get("signature")
    )
    about = [f"intervals: {'; '.join(how)}", *signed] if how else [*signed]
    return "\n\n".join([*blocks, "\n".join(about)]).strip()


def _classes(classes: Mapping[str, Any]) -> str:
    """Precision, recall and F1 of each class; of few classes, also who is taken for whom."""
    from .printing import align

    names = classes["names"] if len(classes["names"]) <= MOST_COLUMNS else []
    rows = [("CLASS", "PRECISION", "RECALL", "F1", "N", *(f"TAKEN FOR {name}" for name in names))]
    for row, counts in zip(classes["rows"], classes["confusion"], strict=True):
        shares = ("–" if row[name] is None else digits(row[name]) for name in ("precision", "recall", "f1"))
        rows.append((str(row["class"]), *shares, f"{row['n']:,}", *(f"{n:,}" for n in counts if names)))
    return align(rows)


def value_of(entry: Mapping[str, Any]) -> str:
    """A score with enough digits to be none by rounding; of a share that is 0, what it is a share of."""
    value = float(entry["value"])
    if "right" in entry and value in (0.0, 1.0):
        return f"{entry['right']:,} of {entry['n']:,}"
    return digits(value)


def within(entry: Mapping[str, Any]) -> str:
    """The interval of a score, "–" where none is known."""
    low, high = entry.get("low"), entry.get("high")
    return "–" if low is None or high is None else f"{digits(low)} to {digits(high)}"


def digits(value: float) -> str:
    """A number with four significant digits or more: never rounded to nothing."""
    return f"{value:,.1f}" if abs(value) >= 1_000 else f"{value:.4g}"
