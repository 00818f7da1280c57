"""Sweeps that ship with the app: what was asked and every trial's result, without the runs.

A folder each in `models/sweeps/shipped/`: `sweep.json` as any sweep has it, and `results.json`.
`python -m models.training sweep --shipped NAME` trains one again.
"""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from models.files import FileError, read_json, write_json, writing
from models.runs.owners import Visitor
from models.runs.status import Status
from models.sweeps.sweep import SPEC, VERSION, Sweep, Trial

SHIPPED = Path(__file__).with_name("shipped")
RESULTS = "results.json"


class ShippedSweep(Sweep):
    """A sweep that has ended elsewhere: everybody may look at it, and nobody changes it."""

    def results(self) -> dict[str, Any]:
        """results.json as it stands: version, trials, importance, seconds, machine, command, answer."""
        return read_json(self.path / RESULTS, newest=VERSION)

    @property
    def answer(self) -> str:
        """What the sweep shows, in words, with its numbers; "" where nobody wrote it."""
        return str(self.results().get("answer", ""))

    def status(self) -> Status:
        """How it ended: "finished", or "stopped" where not all trials had."""
        ended = [trial.state in ("finished", "pruned", "failed") for trial in self.trials()]
        return Status(
            state="finished" if all(ended) else "stopped",
            step=sum(ended),
            steps=self.spec.trials,
            seconds=float(self.results().get("seconds", 0.0)),
            sentence=self.answer,
        )

    def may_see(self, visitor: Visitor) -> bool:
        return True

    def may_change(self, visitor: Visitor) -> bool:
        return False

    def trials(self) -> list[Trial]:
        """All trials with their values; their runs do not ship."""
        try:
            return [_trial(said) for said in self.results()["trials"]]
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{str(self.path / RESULTS)!r} holds no trials ({error}); restore it") from None

    def importance(self) -> dict[str, float]:
        """As Optuna computed it when the sweep had ended."""
        return {str(name): float(share) for name, share in self.results().get("importance", {}).items()}


def list_shipped() -> list[ShippedSweep]:
    """All sweeps that ship, by name."""
    return [ShippedSweep(path.parent) for path in sorted(SHIPPED.glob(f"*/{SPEC}"))]


def write_results(sweep: Sweep, out: Path, *, answer: str = "", shipped: bool = False) -> Path:
    """Writes what a sweep asked and found to a folder, without its runs; returns the folder.

    shipped: the command that is named repeats a sweep that ships. Raises FileError where it works still, and
    WriteError.
    """
    if sweep.status().live:
        raise FileError(f"sweep {sweep.name!r} works still; wait until it has ended, or pause it")
    spec = sweep.spec
    again = f"python -m models.training sweep --shipped {sweep.name}"
    results = {
        "version": VERSION,
        "trials": [_said(trial) for trial in sweep.trials() if trial.state != "skipped"],
        "importance": sweep.importance(),
        "seconds": sweep.status().seconds,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "command": again if shipped else spec.command(),
        "answer": answer,
    }
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    write_json(out / RESULTS, results)
    write_json(out / SPEC, sweep.description())
    return out


def _said(trial: Trial) -> dict[str, Any]:
    """A trial as JSON, without its runs."""
    return {name: value for name, value in asdict(trial).items() if name != "runs"}


def _trial(said: dict[str, Any]) -> Trial:
    known = {spec.name for spec in fields(Trial)}
    values = {name: value for name, value in said.items() if name in known}
    values["values"] = {int(seed): float(value) for seed, value in said.get("values", {}).items()}
    values["curve"] = {int(step): float(value) for step, value in said.get("curve", {}).items()}
    return Trial(**values)
