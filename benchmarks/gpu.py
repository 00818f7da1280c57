"""The large Shakespeare model on a GPU: held-out loss, tokens a second, share of the card's bf16 peak.

    python -m benchmarks.gpu [--steps 2500] [--file input.txt] [--no-compile]

6 layers, 6 heads, 384 wide, 256 characters, 64 pieces a batch, as nanoGPT's setting for characters (its
published loss is 1.4697, after about 3 minutes on an A100). The first steps compile the model and are counted
apart. Without a GPU it says so and runs nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import torch

from attention_lab.models.byte_units import readable
from attention_lab.models.data.tasks import make_task
from attention_lab.models.engine.size import count_parameters
from attention_lab.models.runs.export import command_of
from attention_lab.models.training.config import RunConfig, run_config
from attention_lab.models.training.loop import Record, Training
from benchmarks.setting import print_table
from benchmarks.training import SHAKESPEARE

TARGET_LOSS, TARGET_SECONDS = 1.47, 60.0
WARM_UP = 10  # steps that compile and settle
PEAKS = {"H200": 989e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12, "L4": 121e12, "4090": 165e12}
"""Dense bf16 operations a second, from the makers' data sheets."""


def config(file: Path, steps: int, *, compiled: bool) -> RunConfig:
    """The run that is measured."""
    task = make_task(
        "language-model", {"file": str(file), "tokens": "characters", "length": 256, "splits": "two"}
    )
    return run_config(
        task,
        sizes={"n_layers": 6, "n_heads": 6, "d_model": 384, "dropout": 0.2, "bias": False},
        training={
            "steps": steps, "batch_size": 64, "learning_rate": 1e-3, "warmup_steps": 100, "beta2": 0.99,
            "final_rate": 0.1, "weight_decay": 0.1, "precision": "bfloat16", "compile": compiled,
            "device": "cuda", "validate_every": 250, "held_out": 1_024, "n_snapshots": 2,
        },
    )  # fmt: skip


def operations_per_token(run: RunConfig) -> float:
    """Forward and backward: 6 per parameter, 12 per layer, channel and key (Chowdhery et al. 2022, B)."""
    model = run.model
    positions = model.max_len * model.d_model * (model.positions == "learned")  # looked up, not multiplied
    attention = 12 * model.n_layers * model.n_heads * model.head_size * model.max_len
    return 6 * (count_parameters(model).total - positions) + attention


def peak() -> float | None:
    """The card's peak; None where it is not known."""
    name = torch.cuda.get_device_name()
    return next((rate for part, rate in PEAKS.items() if part in name), None)


def train(run: RunConfig) -> tuple[list[Record], float, float]:
    """All records that were validated, seconds of the first steps, and of all others."""
    training, validated, first = Training(run), [], 0.0
    print(training.chosen, flush=True)
    start = time.perf_counter()
    for record in training:
        if record.step == WARM_UP:
            first = training.seconds
            print(f"first {WARM_UP} steps: {time.perf_counter() - start:.1f} s", flush=True)
        if record.validation:
            validated.append(record)
            took = training.seconds - first
            print(f"step {record.step:5}  loss {record.validation['loss']:.4f}  {took:6.1f} s", flush=True)
    return validated, first, training.seconds - first


def main() -> None:
    """Trains once and prints one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=2_500)
    parser.add_argument("--file", type=Path, default=SHAKESPEARE, help="the text of Tiny Shakespeare")
    parser.add_argument("--no-compile", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("no GPU that PyTorch can use here: nothing is run, nothing is measured")
        return
    if not options.file.is_file():
        sys.exit(f"error: {str(options.file)!r} is no file; give the text of Tiny Shakespeare as --file")
    run = config(options.file, options.steps, compiled=not options.no_compile)
    validated, first, seconds = train(run)
    best = min(validated, key=lambda record: record.validation["loss"] if record.validation else 9.0)
    assert best.validation is not None
    rate = (options.steps - WARM_UP) * run.training.batch_size * run.model.max_len / seconds
    share = f"{rate * operations_per_token(run) / known:.1%}" if (known := peak()) else "unknown card"
    rows = [
        ["held-out loss, the lowest", f"{best.validation['loss']:.4f} (target ≤ {TARGET_LOSS})"],
        ["seconds of training to the end", f"{seconds:.1f} (target ≤ {TARGET_SECONDS:g})"],
        ["seconds of the first steps, with compilation", f"{first:.1f}"],
        ["tokens a second", f"{rate:,.0f}"],
        ["share of the card's bf16 peak", share],
        ["memory, peak", readable(torch.cuda.max_memory_allocated())],
    ]
    print_table(f"Characters of Shakespeare on {torch.cuda.get_device_name()}", ["", "measured"], rows)
    print(f"\nThe same as a run: `{command_of(run)}`")


if __name__ == "__main__":
    main()
