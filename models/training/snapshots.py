"""A probe's attention at some steps of a run: compact, bounded, and dense at the start."""

import torch
from jaxtyping import Float16
from torch import Tensor

from models.byte_units import MB
from models.config import ModelConfig
from models.data.tasks import Reading
from models.engine.trace import Trace
from models.engine.transformer import Transformer
from models.limits import in_force

MOST_BYTES = in_force().snapshots_mb * MB


def snapshot_steps(steps: int, n: int, bytes_each: int = 0) -> list[int]:
    """At most `n` steps from 0 to `steps`, both included, equally far apart on a logarithmic axis.

    At the start, where such steps would coincide, every step is taken. Together the snapshots stay below
    `snapshots_mb`, so large ones are fewer, but two at least.
    """
    n = max(2, min(n, MOST_BYTES // max(1, bytes_each), steps + 1))
    for n_candidates in range(n, 64 * n):
        chosen = {0, *(round(steps ** (i / (n_candidates - 2))) for i in range(1, n_candidates - 1)), steps}
        if len(chosen) >= n:
            break
    return sorted({*sorted(chosen)[: n - 1], steps})


def snapshot_bytes(config: ModelConfig, reading: Reading) -> int:
    """The bytes of one snapshot: a float16 number for each head, query and key of every attention."""
    lengths = {stack: len(reading.tokens[stack]) for stack in config.stacks}
    pairs = sum(n * n for n in lengths.values())
    if config.kind == "encoder-decoder":
        pairs += lengths["decoder"] * lengths["encoder"]
    return 2 * config.n_layers * config.n_heads * pairs


@torch.no_grad()
def snapshot(model: Transformer, reading: Reading) -> dict[str, Float16[Tensor, "head query key"]]:
    """The pattern of every attention on one reading, by address, on the CPU. Call `eval` first."""

    def patterns(address: str, tensor: Tensor) -> Tensor | None:
        return tensor.half().cpu() if address.endswith(".pattern") else None

    trace = Trace(patterns)
    device = next(model.parameters()).device
    model(*(each.to(device) for each in reading.inputs), trace=trace)
    return {address: trace[address] for address in trace}
