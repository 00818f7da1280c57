"""What Train says before a run starts, against what the run takes: seconds and peak memory of every preset.

    python -m benchmarks.estimates [--preset laptop more] [--seconds 60] [--threads 0] [name ...]

Each run is the command line's: a process of its own that reads its data, trains, validates, samples, takes
snapshots and writes checkpoints. A run that is expected to take longer than `--seconds` does a share of its
steps and snapshots, with as many steps between two validations as the whole run has; what it takes between
its start and its report is then divided by that share. CPU seconds are those of the process: other work on
the machine adds to the wall clock and not to them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from attention_lab.models.byte_units import MB
from attention_lab.models.data.tasks import make_task
from attention_lab.models.files import IMPORT_ROOT, read_json_if_any
from attention_lab.models.training.config import RunConfig, run_config
from attention_lab.models.training.estimates import estimate
from attention_lab.pages.shared.training import settings, tasks_on_offer
from attention_lab.pages.train.form import PRESETS
from benchmarks.setting import print_table

LOOK_SECONDS = 0.02
TIME_FACTOR, MEMORY_FACTOR = 2.0, 1.3
_NAMES = {"laptop": "a laptop", "more": "ten times the work"}


@dataclass(frozen=True)
class Taken:
    """What a run's process took: seconds in all, those before its first step and of its report, CPU seconds
    of the first two, bytes at its peak, and the share of its steps that it did.
    """

    seconds: float
    start: float
    report: float
    start_cpu: float
    cpu: float
    peak: int
    share: float

    @property
    def whole(self) -> float:
        """Seconds of the whole run."""
        once = self.start + self.report
        return once + (self.seconds - once) / self.share

    @property
    def cpu_whole(self) -> float:
        """CPU seconds of the whole run."""
        report = self.report * (self.cpu - self.start_cpu) / (self.seconds - self.start)
        once = self.start_cpu + report
        return once + (self.cpu - once) / self.share


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="name", help="of tasks; default: all")
    parser.add_argument("--preset", nargs="+", choices=list(_NAMES), default=["laptop"])
    parser.add_argument("--seconds", type=float, default=60.0, help="longer runs do a share of their steps")
    parser.add_argument("--threads", type=int, default=0, help="of each run; 0: all cores")
    options = parser.parse_args()
    rows = []
    for preset in options.preset:
        for config in _configs(options.names, _NAMES[preset], options.threads):
            rows.append(_row(config, preset, options.seconds))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    columns = [
        "run", "said, s", "took, s", "ratio", "start, s", "CPU, s", "share", "said, MB", "peak, MB", "ratio",
    ]  # fmt: skip
    print_table(f"Estimates, {os.cpu_count()} cores", columns, rows)


def _configs(names: list[str], preset: str, threads: int) -> Iterator[RunConfig]:
    for info in tasks_on_offer.tasks().values():
        if names and info.name not in names:
            continue
        values = settings.defaults(info) | PRESETS[preset](info) | {"threads": threads}
        task = make_task(info.name, {option.name: values[option.name] for option in info.options})
        yield settings.run_config(info, values, task)


def _row(config: RunConfig, preset: str, most: float) -> list[object]:
    how = config.training
    config = replace(config, training=replace(how, threads=how.threads or os.cpu_count() or 1))
    said = estimate(config)
    seconds = said.seconds or float("nan")
    taken = _run(config, min(1.0, most / seconds))
    return [
        f"{config.task.name}, {preset}",
        f"{seconds:.1f}",
        f"{taken.whole:.1f}",
        _judged(seconds / taken.whole, TIME_FACTOR),
        f"{taken.start:.1f}",
        f"{taken.cpu_whole:.1f}",
        f"{taken.share:.2f}",
        f"{said.memory_bytes / MB:.0f}",
        f"{taken.peak / MB:.0f}",
        _judged(said.memory_bytes / taken.peak, MEMORY_FACTOR),
    ]


def _judged(ratio: float, factor: float) -> str:
    return f"{ratio:.2f}{'' if 1 / factor <= ratio <= factor else ' NO'}"


def _run(config: RunConfig, share: float) -> Taken:
    """Trains a share of a run's steps in a process of its own."""
    how = config.training
    steps = max(1, round(share * how.steps))
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "run"
        changes = {
            "steps": steps,
            "validate_every": how.validation_interval,
            "n_snapshots": max(2, round(share * how.n_snapshots)),
        }
        command = [sys.executable, "-m", "attention_lab.models.training", "run", "--task", config.task.name]
        for name, value in _settings(config, changes).items():
            command += ["--set", f"{name}={value}"]
        start = time.perf_counter()
        told = Path(parent) / "told.txt"  # a pipe that nobody reads would fill, and stop the run
        with told.open("wb") as stream:
            process = subprocess.Popen(
                [*command, "--out", str(folder)], cwd=IMPORT_ROOT, stdout=stream, stderr=stream,
                env={name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"},
            )  # fmt: skip
        began, start_cpu, peak = 0.0, 0.0, 0
        while True:
            peak = max(peak, _peak(process.pid))
            if not began and read_json_if_any(folder / "status.json").get("device"):
                began = time.perf_counter() - start
                start_cpu = sum(psutil.Process(process.pid).cpu_times()[:2])
            pid, code, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(LOOK_SECONDS)
        seconds = time.perf_counter() - start
        said = told.read_text(errors="replace")
        report = float(read_json_if_any(folder / "report.json").get("seconds", 0.0))
    if code:
        raise SystemExit(f"{config.task.name}: {said[-2_000:]}")
    cpu = usage.ru_utime + usage.ru_stime
    return Taken(seconds, began, report, start_cpu, cpu, peak, steps / how.steps)


def _settings(config: RunConfig, changes: dict[str, Any]) -> dict[str, Any]:
    """What differs from the task's own run, as `--set` takes it."""
    usual = run_config(config.task)
    found = {name: value for name, value in config.task.to_dict().items() if value != ""}
    for ours, theirs in ((config.model, usual.model), (config.training, usual.training)):
        a, b = ours.to_dict(), theirs.to_dict()
        found |= {name: a[name] for name in a if a[name] != b[name] and name not in ("d_head", "d_ff")}
    return found | changes


def _peak(pid: int) -> int:
    """The most memory that a process has held, in bytes, without its parent's share; 0 once it has ended."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return 1_024 * int(found[1]) if found else 0


if __name__ == "__main__":
    main()
