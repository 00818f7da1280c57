"""What training costs: our loop beside a plain PyTorch loop, on the characters of a text.

    python -m benchmarks.training [--rounds 30] [--steps 10] [--threads 0]

4 layers, 4 heads, 128 wide, 64 characters, 12 pieces a batch, as nanoGPT's small setting. The sides take
turns, some steps each, so that whatever else the machine does hits all of them. "same model, plain loop" is
our engine in the plain loop; what ours takes beyond it is the price of records, seeds and checks. Then some
steps alone and beside another busy process, against what the page says that they will take.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from attention_lab.models.data.tasks import make_task
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.training.config import RunConfig, run_config
from attention_lab.models.training.estimates import FRESH_SECONDS, estimate
from attention_lab.models.training.loop import Training
from benchmarks.nanogpt import NanoGPT, plain_steps
from benchmarks.setting import print_table

SHAKESPEARE = Path(__file__).parents[2] / "shared" / "data" / "tinyshakespeare" / "input.txt"
LENGTH, BATCH = 64, 12
SIZES = {"n_layers": 4, "n_heads": 4, "d_model": 128}


def text_options() -> dict[str, Any]:
    """Tiny Shakespeare where it lies beside the clone, else the text that comes with the tasks."""
    return {"file": str(SHAKESPEARE)} if SHAKESPEARE.is_file() else {}


def config() -> RunConfig:
    """The run that is measured, without validations, which the plain loop does not have either."""
    task = make_task("language-model", {**text_options(), "tokens": "characters", "length": LENGTH})
    training = {"steps": 1_000_000, "batch_size": BATCH, "validate_every": 1_000_000, "n_snapshots": 2}
    return run_config(task, sizes=SIZES, training=training)


def sides(run: RunConfig) -> dict[str, Callable[[], object]]:
    """One step of each side."""
    text = torch.cat(
        [run.task.batch(torch.Generator().manual_seed(at), 4_000).inputs[0].flatten() for at in range(4)]
    )
    vocabulary = run.model.vocab_size
    nano = NanoGPT(**SIZES, vocab_size=vocabulary, length=LENGTH)
    training = Training(run)
    return {
        "our loop": lambda: next(training),
        "plain loop": plain_steps(nano, text, batch=BATCH, length=LENGTH),
        "same model, plain loop": plain_steps(
            Transformer(run.model, seed=0), text, batch=BATCH, length=LENGTH
        ),
    }


def measure(steps: dict[str, Callable[[], object]], rounds: int, n_steps: int) -> dict[str, list[float]]:
    """Seconds of `n_steps` of each side, round by round; two rounds warm up."""
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(rounds + 2):
        for name in list(steps)[:: 1 if turn % 2 else -1]:
            start = time.perf_counter()
            for _ in range(n_steps):
                steps[name]()
            seconds[name].append(time.perf_counter() - start)
    return {name: values[2:] for name, values in seconds.items()}


@contextmanager
def busy_process() -> Iterator[None]:
    """Inside, another process takes all it can of one core."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    time.sleep(FRESH_SECONDS)  # by then it is forgotten how fast the quiet machine was
    try:
        yield
    finally:
        process.kill()
        process.wait()
        time.sleep(FRESH_SECONDS)  # and now how slow the busy one was


def steps_and_estimate(n_steps: int) -> tuple[float, float]:
    """Seconds that some steps of a translator take, and what was said before."""
    training = {"steps": n_steps, "validate_every": 1_000_000, "n_snapshots": 2, "held_out": 1}
    run = run_config(make_task("translation"), training=training)
    said = estimate(run).seconds or float("nan")
    steps = Training(run)
    for _ in steps:
        pass
    return steps.seconds, said


def beside_others(n_steps: int) -> None:
    """Prints how training fares beside a busy process, and whether its estimate does."""
    steps_and_estimate(2)  # warms up
    alone = steps_and_estimate(n_steps)
    with busy_process():
        beside = steps_and_estimate(n_steps)
    rows = [
        [name, f"{took:.1f}", f"{said:.1f}", f"{took / said:.2f}"]
        for name, (took, said) in (("alone", alone), ("beside a busy process", beside))
    ]
    rows.append(["the second against the first", f"{beside[0] / alone[0]:.2f}", "", ""])
    columns = ["", "seconds", "estimated", "seconds to estimate (target 0.5 to 2)"]
    print_table(f"{n_steps} steps of the translator, {torch.get_num_threads()} threads", columns, rows)


def main() -> None:
    """Prints tokens per second of each side, ours as a multiple of each, and training on a busy machine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--threads", type=int, default=0, help="0: PyTorch's own choice")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    seconds = measure(sides(config()), options.rounds, options.steps)
    ours = seconds["our loop"]
    rows = []
    for name, values in seconds.items():
        tokens = BATCH * LENGTH * options.steps / statistics.median(values)
        ratio = statistics.median(b / a for a, b in zip(ours, values, strict=True))
        rows.append([name, f"{tokens:,.0f}", f"{ratio:.3f}"])
    title = (
        f"Training step, 4 layers, 128 wide, {BATCH} x {LENGTH} characters, {torch.get_num_threads()} threads"
    )
    print_table(title, ["", "tokens/s", "speed of ours to it (target ≥ 1)"], rows)
    beside_others(4 * options.steps)


if __name__ == "__main__":
    main()
