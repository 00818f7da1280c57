"""What long texts cost: the pass, the picture of a head, a tile of the map, and the memory of each.

    python -m benchmarks.long_context [--lengths 512 2048 8192 32768] [--threads 2]

Each length has a process of its own, whose peak memory is then known. The model is ours: a decoder of 4
layers with 4 heads of 64 channels, rotary positions. Up to `WHOLE` tokens the traced pass, which holds every
pattern, is timed beside it in the same process. Tiles of heads whose positions add to the scores take turns
with those of a plain head.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from typing import Any

import torch

from attention_lab.models import ModelConfig, Trace, Transformer
from attention_lab.models.byte_units import MB
from attention_lab.models.engine.long_text import LongHeads, LongTrace
from attention_lab.models.engine.positions import POSITIONS
from attention_lab.pages.documents.reading import MOST_CELLS

LENGTHS = (512, 2_048, 8_192, 32_768)
WHOLE = 2_048
N_TILES = 40
N_LAYERS, N_HEADS, D_HEAD = 4, 4, 64
LIMIT_MS = 150
BIASED = ("alibi", "t5", "transformer-xl")
LIMIT_BIASED = 2


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lengths", type=int, nargs="+", default=list(LENGTHS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one, options.threads)))
        return
    print(f"\n{N_LAYERS} layers x {N_HEADS} heads x {D_HEAD} channels, {options.threads} threads\n")
    print(
        "| tokens | the pass, s | traced, whole patterns, s | a head's picture, s | "
        f"tile p95, ms (≤ {LIMIT_MS}) | tile with {', '.join(BIASED)}, times as long (≤ {LIMIT_BIASED}) | "
        "q and k kept, MB | patterns would take, MB | peak memory, MB |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for length in options.lengths:
        command = [sys.executable, "-m", "benchmarks.long_context", "--one", str(length)]
        command += ["--threads", str(options.threads)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        whole = "" if found["traced"] is None else f"{found['traced']:.2f}"
        biased = ", ".join(f"{times:.2f}" for times in found["biased"])
        print(
            f"| {length:,} | {found['pass']:.2f} | {whole} | {found['picture']:.2f} | {found['tile']:.0f} | "
            f"{biased} | {found['kept']:,.0f} | {found['patterns']:,.0f} | {found['peak']:,.0f} |"
        )


def measured(length: int, threads: int) -> dict[str, Any]:
    """Seconds, milliseconds of tiles, and megabytes, for one length."""
    torch.set_num_threads(threads)
    model = Transformer(
        ModelConfig(
            kind="decoder-only", n_layers=N_LAYERS, n_heads=N_HEADS, d_model=N_HEADS * D_HEAD, d_head=D_HEAD,
            vocab_size=1_000, max_len=length, positions="rotary", pad_id=None,
        ),
        seed=0,
    ).eval()  # fmt: skip
    ids = torch.randint(1_000, (1, length), generator=torch.Generator().manual_seed(0))
    nothing = torch.zeros(ids.shape, dtype=torch.bool)
    trace = LongTrace()
    with torch.no_grad():
        model.decode(ids[:, :64], trace=LongTrace(), positions=nothing[:, :64])  # warms up
        seconds = timed(lambda: model.decode(ids, trace=trace, positions=nothing))
        heads = trace.heads["decoder.1.self"]
        picture = timed(lambda: heads.whole(0))
        tiles = [timed(lambda part=part: heads.window(0, *part)) for part in windows(length)]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB
        biased = [times_as_long(heads, name, length) for name in BIASED]
        traced = timed(lambda: model.decode(ids, trace=Trace())) if length <= WHOLE else None
    return {
        "pass": seconds, "picture": picture, "traced": traced, "peak": peak,
        "tile": 1e3 * statistics.quantiles(tiles, n=20)[-1], "biased": biased,
        "kept": sum(each.n_bytes for each in trace.heads.values()) / MB,
        "patterns": 4 * N_LAYERS * N_HEADS * length**2 / MB,
    }  # fmt: skip


def times_as_long(plain: LongHeads, positions: str, length: int) -> float:
    """How much longer tiles take where positions add to the scores, the two in turns."""
    config = ModelConfig(
        kind="decoder-only", n_layers=1, n_heads=N_HEADS, d_model=N_HEADS * D_HEAD, d_head=D_HEAD,
        vocab_size=1_000, max_len=length, positions=positions, pad_id=None,
    )  # fmt: skip
    scheme = POSITIONS[positions](config, causal=True)
    added = scheme.added(plain.q, plain.k, layer=0, scale=plain.scale, causal=True)
    biased = LongHeads(plain.q, plain.k, plain.scale, True, added=added)
    biased.whole(0)
    pairs = [
        [timed(lambda of=of, part=part: of.window(0, *part)) for of in (plain, biased)]
        for part in windows(length)
    ]
    return statistics.median(slow for _, slow in pairs) / statistics.median(quick for quick, _ in pairs)


def windows(length: int) -> list[tuple[slice, slice]]:
    """Parts of the map as a person zooms: from half of the text a side down to 64 tokens, anywhere."""
    generator = torch.Generator().manual_seed(1)
    found = []
    for at in range(N_TILES):
        size = max(64, min(length // 2 ** (1 + at % 6), int(MOST_CELLS**0.5)))
        q0, k0 = torch.randint(length - size + 1, (2,), generator=generator).tolist()
        found.append((slice(q0, q0 + size), slice(k0, k0 + size)))
    return found


def timed(work: object) -> float:
    """Seconds that a call takes."""
    assert callable(work)
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
