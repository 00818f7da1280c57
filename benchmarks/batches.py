"""What batches of like lengths save on pairs of texts of many lengths, and what a validation costs.

    python -m benchmarks.batches [--rounds 12] [--threads 1]

Both sides have the model and the pairs of "Translation of your texts": splits=old draws pairs of any length
and splits=three sorts 16 batches at a time. They take turns, some steps each. The validation of "before" is
what was done until its losses and its scores had one pass: the loss of every batch, and then its scores.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from itertools import islice
from pathlib import Path

import torch

from attention_lab.models.data.grammar import sample_pairs
from attention_lab.models.data.tasks import Batch, make_task
from attention_lab.models.data.word_tokenizer import PAD
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training
from benchmarks.setting import print_table

PAIRS, STEPS = 1_200, 16
SIZES = {"n_layers": 2, "n_heads": 4, "d_model": 64}


def written(folder: Path) -> str:
    """A file of pairs of one to four sentences each, as lengths differ in people's files."""
    rng, pairs = random.Random(0), sample_pairs(0, "training")
    lines = []
    for _ in range(PAIRS):
        some = list(islice(pairs, rng.choice((1, 1, 1, 2, 4))))
        sides = ([pair.english for pair in some], [pair.french for pair in some])
        lines.append("\t".join(" . ".join(map(" ".join, side)) for side in sides))
    path = folder / "pairs.tsv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def training_of(file: str, splits: str, threads: int) -> Training:
    task = make_task("parallel-text", {"file": file, "vocabulary": 1000, "splits": splits})
    how = {"steps": 1_000_000, "validate_every": 1_000_000, "n_snapshots": 2, "threads": threads}
    return Training(run_config(task, sizes=SIZES, training={**how, "batch_size": 64, "held_out": 256}))


def padding(batches: list[Batch]) -> float:
    """The share of the positions of both sides that hold no token."""
    sides = [side for batch in batches for side in batch.inputs]
    return sum(int((side == PAD).sum()) for side in sides) / sum(side.numel() for side in sides)


def seconds_of(act: object) -> float:
    start = time.perf_counter()
    act()  # type: ignore[operator]
    return time.perf_counter() - start


def twice(training: Training) -> None:
    """A validation as it was: two passes over each batch."""
    task, model = training.config.task, training.model.eval()
    with torch.no_grad():
        for batch in training._held_out:
            task.losses(model, batch)
            task.tally(model, batch)


def main() -> None:
    """Prints padding and seconds of both ways, and their quotient."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder))
        before, now = (training_of(file, splits, options.threads) for splits in ("old", "three"))
        for training in (before, now):
            next(training)  # reads the file
        pads = [padding([*islice(t.config.task.batches(0, 64), 64)]) for t in (before, now)]
        steps = [
            [seconds_of(lambda t=t: [next(t) for _ in range(STEPS)]) / STEPS for t in (before, now)]
            for _ in range(options.rounds)
        ]
        ways = (lambda: twice(before), lambda: now.validate())
        validations = [[seconds_of(way) for way in ways] for _ in range(options.rounds)]
    rows = [["share of padding", f"{pads[0]:.1%}", f"{pads[1]:.1%}", f"{pads[1] / pads[0]:.2f}"]]
    for name, found in (("ms a step of 64 pairs", steps), ("ms a validation", validations)):
        first, second = (1_000 * statistics.median(each) for each in zip(*found, strict=True))
        quotient = statistics.median(b / a for a, b in found)
        rows.append([name, f"{first:.1f}", f"{second:.1f}", f"{quotient:.2f}"])
    n = [sum(map(len, t._held_out)) for t in (before, now)]
    distinct = [len({tuple(row) for b in t._held_out for row in b.inputs[0].tolist()}) for t in (before, now)]
    rows.append(
        [
            "held-out pairs read, and different ones",
            *(f"{a}, {b}" for a, b in zip(n, distinct, strict=True)),
            "",
        ]
    )
    print_table(
        "Pairs of one to four sentences, 2 layers, 64 wide", ["", "before", "now", "now / before"], rows
    )


if __name__ == "__main__":
    main()
