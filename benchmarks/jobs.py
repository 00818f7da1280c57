"""Training as a job, as the page starts and watches it, beside the same from the command line.

python -m benchmarks.jobs [--rounds 7] [--steps 600] [--threads 0]

Both write the same folder; the time is that from its first file before training to its last checkpoint. They
take turns, so that both share the machine's moods, and each round's ratio is of two neighbours.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from attention_lab.models.data.tasks import make_task
from attention_lab.models.files import IMPORT_ROOT
from attention_lab.models.runs import jobs
from attention_lab.models.runs.folder import RunFolder
from attention_lab.models.runs.owners import MACHINE
from attention_lab.models.training.config import run_config
from attention_lab.models.zoo.folders import CHECKPOINT, PROBE
from benchmarks.setting import print_table

AT_LEAST = 0.98
TASK = "reverse"
LOOK_SECONDS = 1.0  # between two looks of the page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--threads", type=int, default=0, help="of each run; 0: all cores")
    options = parser.parse_args()
    os.environ.pop("OMP_NUM_THREADS", None)  # both train with all cores
    how = {"steps": options.steps, "threads": options.threads}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATTENTION_LAB_RUNS"] = folder
        rows = [_round(Path(folder), number, how) for number in range(options.rounds)]
    ratio = statistics.median(alone / job for alone, job in rows)
    table: list[list[object]] = [
        [f"round {number + 1}", f"{alone:.2f}", f"{job:.2f}", f"{alone / job:.3f}"]
        for number, (alone, job) in enumerate(rows)
    ]
    table.append(["median", "", "", f"{ratio:.3f} (≥ {AT_LEAST}: {'yes' if ratio >= AT_LEAST else 'NO'})"])
    print_table(
        f"Task {TASK}, {options.steps} steps, {os.cpu_count()} cores: seconds of training",
        ["", "command line", "job", "speed of the job"],
        table,
    )


def _round(folder: Path, number: int, how: dict[str, int]) -> tuple[float, float]:
    """Seconds from the command line and as a job; who comes first changes with the round's number."""
    if number % 2:
        job = _job(how)
        return _command_line(folder / f"command-{number}", how), job
    alone = _command_line(folder / f"command-{number}", how)
    return alone, _job(how)


def _command_line(folder: Path, how: dict[str, int]) -> float:
    command = [
        sys.executable,
        "-m",
        "attention_lab.models.training",
        "run",
        "--task",
        TASK,
        "--out",
        str(folder),
    ]
    for name, value in how.items():
        command += ["--set", f"{name}={value}"]
    subprocess.run(command, cwd=IMPORT_ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return _seconds(RunFolder(folder))


def _job(how: dict[str, int]) -> float:
    """The run of a page that looks once a second: at its status and at the records that are new."""
    run = jobs.run_folder(jobs.submit(run_config(make_task(TASK), training=how), by=MACHINE))
    seen = 0
    while jobs.status(run.id).live:
        seen = max([seen, *(line["step"] for line in run.metrics(after_step=seen))])
        time.sleep(LOOK_SECONDS)
    status = jobs.status(run.id)
    if status.state != "finished":
        raise RuntimeError(f"the job {status.state}: {status.sentence}")
    return _seconds(run)


def _seconds(run: RunFolder) -> float:
    return (run.path / CHECKPOINT).stat().st_mtime - (run.path / PROBE).stat().st_mtime


if __name__ == "__main__":
    main()
