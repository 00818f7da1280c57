"""What a training step costs with sparse attention: seconds and peak memory, dense and in blocks.

    python -m benchmarks.sparse_training [--lengths 512 2048 8192] [--threads 2]

A step is forward and backward of one text by a decoder of 2 layers with 4 heads of 64 channels, rotary
positions. Each number has a process of its own, whose peak memory is then known. "all pairs" computes the
hidden pairs of the same mask, too; "blocks" is what the engine does from `blocks.LEAST` tokens on, asked for
here at every length.
"""

import argparse
import json
import resource
import subprocess
import sys

import torch
from torch.nn.functional import cross_entropy

from attention_lab.models import ModelConfig, Transformer
from attention_lab.models.byte_units import MB
from attention_lab.models.engine import sparse
from benchmarks.long_context import timed

LENGTHS = (512, 2_048, 8_192)
CASES = {
    "dense, causal": ("none", "", False),
    "fixed 128.8, all pairs": ("fixed", "128.8", False),
    "fixed 128.8, blocks": ("fixed", "128.8", True),
    "strided 128, all pairs": ("strided", "128", False),
    "strided 128, blocks": ("strided", "128", True),
    "window 128, all pairs": ("causal+window", "128", False),
    "window 128, blocks": ("causal+window", "128", True),
}
N_STEPS = 3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lengths", type=int, nargs="+", default=list(LENGTHS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one[0], int(options.one[1]), options.threads)))
        return
    print("| a training step | " + " | ".join(f"{n:,} tokens: s | MB" for n in options.lengths) + " |")
    print("| --- |" + " ---: |" * (2 * len(options.lengths)))
    for case in CASES:
        found = [in_a_process(case, length, options.threads) for length in options.lengths]
        print(f"| {case} | " + " | ".join(f"{s:.2f} | {peak:,.0f}" for s, peak in found) + " |", flush=True)


def in_a_process(case: str, length: int, threads: int) -> tuple[float, float]:
    """`measured`, by another process."""
    command = [sys.executable, "-m", "benchmarks.sparse_training", "--one", case, str(length)]
    done = subprocess.run([*command, "--threads", str(threads)], check=True, capture_output=True, text=True)
    seconds, peak = json.loads(done.stdout)
    return seconds, peak


def measured(case: str, length: int, threads: int) -> tuple[float, float]:
    """The fastest of some steps in seconds, and the most memory that the process had, in megabytes."""
    torch.set_num_threads(threads)
    mask, argument, in_blocks = CASES[case]
    sparse.LEAST = 1 if in_blocks else length + 1
    model = Transformer(
        ModelConfig(
            kind="decoder-only", n_layers=2, n_heads=4, d_model=256, vocab_size=1_000, max_len=length,
            positions="rotary", pad_id=None, mask=mask, mask_argument=argument,
        ),
        seed=0,
    )  # fmt: skip
    ids = torch.randint(1_000, (1, length + 1), generator=torch.Generator().manual_seed(0))

    def step() -> None:
        model.zero_grad()
        cross_entropy(model(ids[:, :-1])[0], ids[0, 1:]).backward()

    seconds = min(timed(step) for _ in range(N_STEPS))
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB


if __name__ == "__main__":
    main()
