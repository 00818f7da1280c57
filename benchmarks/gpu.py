"""Measures a GPU in at most eight minutes: runs its tests, times each precision, and trains on Shakespeare.

    python -m benchmarks.gpu [--file input.txt] [--minutes 8] [--small]

6 layers, 6 heads, 384 wide, 256 characters, 64 pieces a batch, as nanoGPT's setting for characters, whose
published loss is 1.4697, after about 3 minutes on an A100 (github.com/karpathy/nanoGPT). Each precision
trains for some steps, of which the first, in which a model is compiled, are counted apart; then the fastest
trains until it reaches that loss, or the time is over. --small tries the program itself: a tiny model, a few
steps, on the CPU, without the tests. Without a GPU it says so and runs nothing.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from attention_lab.models.byte_units import readable
from attention_lab.models.data.tasks import make_task
from attention_lab.models.runs.export import command_of
from attention_lab.models.training.config import RunConfig, run_config
from attention_lab.models.training.loop import Training
from attention_lab.models.training.memory import memory_bytes
from benchmarks.setting import print_table
from benchmarks.training import SHAKESPEARE

TARGET_LOSS = 1.4697
TEST_SECONDS, SPARE_SECONDS = 120, 20
WARM_UP = 16  # steps that compile and settle
TESTS = "tests/models/training/test_cuda.py"
WAYS: dict[str, dict[str, Any]] = {
    "float32 (TF32)": {},
    "bfloat16": {"precision": "bfloat16"},
    "float16": {"precision": "float16"},
    "bfloat16, compiled": {"precision": "bfloat16", "compile": True},
}


def config(file: Path, *, small: bool = False, **training: Any) -> RunConfig:
    """The run that is measured."""
    length, width, heads = (32, 16, 2) if small else (256, 384, 6)
    options = {"file": str(file), "tokens": "characters", "length": length, "splits": "two"}
    how: dict[str, Any] = {
        "steps": 2_500, "batch_size": 4 if small else 64, "learning_rate": 1e-3, "warmup_steps": 100,
        "beta2": 0.99, "final_rate": 0.1, "weight_decay": 0.1, "device": "cpu" if small else "cuda",
        "validate_every": 250, "held_out": 8 if small else 1_024, "n_snapshots": 2, **training,
    }  # fmt: skip
    sizes = {"n_layers": heads, "n_heads": heads, "d_model": width, "dropout": 0.2, "bias": False}
    return run_config(make_task("language-model", options), sizes=sizes, training=how)


def measured(run: RunConfig) -> tuple[float, list[str]]:
    """Tokens a second after the first steps; and in words these, seconds of the first steps, the share of the
    card's peak, and the memory that was estimated and used. What this machine refuses says why.
    """
    try:
        training = Training(run)
    except ValueError as error:
        return 0.0, [str(error), "", "", "", ""]
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    first, records = 0.0, []
    for record in training:
        records.append(record)
        first = training.seconds if record.step <= WARM_UP else first
    rate = statistics.median(record.tokens_per_second for record in records[WARM_UP:])
    shares = [record.share_of_peak for record in records[WARM_UP:] if record.share_of_peak]
    share = f"{statistics.median(shares):.1%}" if shares else "–"
    memory = [readable(memory_bytes(run)), readable(max(record.memory for record in records))]
    return rate, [f"{rate:,.0f}", f"{first:.1f}", share, *memory]


def to_target(run: RunConfig, target: float) -> list[list[str]]:
    """Trains until the held-out loss is at the target, or the run is over: rows of a table."""
    training, best = Training(run), float("inf")
    print(training.chosen, flush=True)
    for record in training:
        if record.validation:
            best = min(best, record.validation["loss"])
            words = f"loss {record.validation['loss']:.4f}  {training.seconds:6.1f} s"
            print(f"step {record.step:5}  {words}", flush=True)
            if best <= target:
                break
    reached = f"{training.seconds:.1f}" if best <= target else f"not in {training.seconds:.1f}"
    return [
        ["held-out loss, the lowest", f"{best:.4f}"],
        [f"seconds to {target}", reached],
        ["steps", f"{training.step:,}"],
    ]


def main() -> None:
    """Runs the tests, and prints two tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--file", type=Path, default=SHAKESPEARE, help="the text of Tiny Shakespeare")
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--small", action="store_true", help="tries the program itself, on the CPU")
    options = parser.parse_args()
    if not (options.small or torch.cuda.is_available()):
        print("no GPU that PyTorch can use here: nothing is run, nothing is measured")
        return
    if not options.file.is_file():
        sys.exit(f"error: {str(options.file)!r} is no file; give the text of Tiny Shakespeare as --file")
    end = time.monotonic() + 60 * options.minutes
    if not options.small:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", TESTS]
        try:
            subprocess.run(command, timeout=TEST_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            print(f"the tests took longer than {TEST_SECONDS} seconds and were stopped")
    name = "the CPU" if options.small else torch.cuda.get_device_name()
    steps, rows, rates = WARM_UP + (8 if options.small else 80), [], dict[str, float]()
    for way, how in WAYS.items():
        if time.monotonic() > end - 60 * options.minutes / 2:
            rows.append([way, "no time left", "", "", "", ""])
            continue
        run = config(options.file, small=options.small, **how, steps=steps, validate_every=steps)
        rates[way], words = measured(replace(run, training=replace(run.training, held_out=8)))
        rows.append([way, *words])
    columns = ["precision", "tokens a second", "first steps, s", "share of peak", "estimated", "used"]
    print_table(f"Characters of Shakespeare on {name}", columns, rows)
    left = 3 if options.small else max(10.0, end - time.monotonic() - SPARE_SECONDS)
    fastest = max(rates, key=lambda way: rates[way])
    run = config(options.file, small=options.small, **WAYS[fastest], minutes=left / 60)
    print_table(f"To nanoGPT's loss, in {fastest}", ["", "measured"], to_target(run, TARGET_LOSS))
    print(f"\nThe same as a run: `{command_of(run)}`")


if __name__ == "__main__":
    main()
