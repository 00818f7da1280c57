"""How long a run takes, from what its parts cost; and what they cost by formula, before one was tried."""

import os
import statistics
import time
from dataclasses import dataclass
from typing import Any

import torch
from cachetools import TTLCache, cached

from models.byte_units import MB
from models.config import ModelConfig
from models.engine import size
from models.engine.layers import Layer
from models.training.config import RunConfig
from models.training.memory import example
from models.training.snapshots import snapshot_bytes, snapshot_steps

FRESH_SECONDS = 10.0
"""A measured speed of the machine counts for so long."""
UPDATE_SECONDS = 2e-9  # of the optimiser, per parameter
_STEP_SECONDS = 1e-3  # of everything that does not grow with the model
_RECORD_SECONDS = 2e-4  # of a step's record in the run's folder
_REPORT = 3  # validations that the report at the end costs: held-out part and test, and what is most wrong
_WRITTEN_BYTES = 300 * MB  # of a checkpoint, in a second
_CHECKPOINT_SECONDS = 0.02  # of a small checkpoint, which is waited for until the disk has it
_TIMED_TOKENS, _TIMED_WIDTH = 512, 256  # of the layer that is timed: small, so that the formula is quick
_TIMED_SECONDS, _TIMED_PASSES = 0.05, 5


@dataclass(frozen=True)
class Timed:
    """Seconds by the clock; and alone: in how many of them this thread computed, which is about what remains
    where no other work keeps it waiting.
    """

    seconds: float | int
    alone: float | int

    def __add__(self, other: "Timed") -> "Timed":
        return Timed(self.seconds + other.seconds, self.alone + other.alone)

    def __sub__(self, other: "Timed") -> "Timed":
        """The difference, 0 at least."""
        return Timed(max(0.0, self.seconds - other.seconds), max(0.0, self.alone - other.alone))

    def __mul__(self, factor: float | int) -> "Timed":
        return Timed(factor * self.seconds, factor * self.alone)


START_SECONDS = 3.0
"""What a run's process takes before it has a model, where it need not wait: Python, PyTorch, the folder."""
_MOST_SLOWED = 5.0


@dataclass(frozen=True)
class Costs:
    """What the parts of a run cost: reading its data, a step, a held-out example of a validation, the samples
    that follow it, a snapshot.
    """

    data: Timed
    step: Timed
    example: Timed
    samples: Timed
    snapshot: Timed


def whole(config: RunConfig, costs: Costs) -> Timed:
    """A run from the start of its process to its end, where nothing goes before it."""
    how = config.training
    n_validations = -(-how.steps // how.validation_interval)  # the last step is validated, too
    each = snapshot_bytes(config.model, config.task.probe())
    n_snapshots = len(snapshot_steps(how.steps, how.n_snapshots, each))
    record = Timed(_RECORD_SECONDS, _RECORD_SECONDS)
    slowed = costs.step.seconds / costs.step.alone if costs.step.alone else 1.0
    start = Timed(START_SECONDS * min(max(1.0, slowed), _MOST_SLOWED), START_SECONDS)
    total = start + costs.data + (costs.step + record) * how.steps + costs.snapshot * n_snapshots
    total += (costs.example * how.held_out + costs.samples) * n_validations
    total += costs.example * (how.held_out * _REPORT)
    written = 3 * size.FLOAT_BYTES * size.count_parameters(config.model).total / _WRITTEN_BYTES
    checkpoint = written + _CHECKPOINT_SECONDS
    n_checkpoints = 2 + total.seconds / max(how.checkpoint_seconds, 50 * checkpoint)
    return total + Timed(checkpoint, checkpoint) * n_checkpoints


def by_formula(config: RunConfig) -> Costs:
    """The parts of a run by their arithmetic, from the time that one layer of such a model takes here now."""
    step = expected_step(config, config.training.batch_size)
    one = _example_seconds(config)
    # A validation makes two forward passes over an example, and a forward pass is a third of what `one` is.
    parts = (0.0, step, 2 * one / 3, 0.0, one / 3)
    return Costs(*(Timed(part, part) for part in parts))


def expected_step(config: RunConfig, examples: int) -> float:
    """Seconds of one step of so many examples, by its arithmetic."""
    passes = 4 if config.training.gradient_checkpointing else 3  # forward; backward costs two
    n_parameters = size.count_parameters(config.model).total
    return examples * _example_seconds(config) * passes / 3 + n_parameters * UPDATE_SECONDS + _STEP_SECONDS


def _example_seconds(config: RunConfig) -> float:
    """Seconds of one example forward and backward."""
    model, how = config.model, config.training
    lengths = example(config.task).lengths
    threads = min(how.threads or torch.get_num_threads(), os.cpu_count() or 1)
    rate = _rate(min(model.d_model, _TIMED_WIDTH), model.activation, threads)
    return sum(lengths) * _work_per_position(model, max(lengths)) / rate


def _layer_work(model: ModelConfig, length: int) -> float:
    """Floating-point operations of one position in one layer, forward and backward."""
    heads = model.n_heads * model.head_size
    return 6.0 * (4 * model.d_model * heads + 2 * model.d_model * model.ff_size + 2 * heads * length)


def _work_per_position(model: ModelConfig, length: int) -> float:
    n_out = model.output_vocab_size
    crossing = 1.3 if len(model.stacks) == 2 else 1.0  # positions of the decoder attend twice
    return crossing * model.n_layers * _layer_work(model, length) + 6.0 * model.d_model * n_out


@cached(TTLCache(16, ttl=FRESH_SECONDS))
def _rate(width: int, activation: Any, threads: int) -> float:
    """Operations per second of so many threads in a layer of this width, forward and backward.

    It is measured in wall-clock time, since other work on this machine slows the run just as it slows this.
    """
    config = ModelConfig(
        kind="decoder-only", n_layers=1, n_heads=1, d_model=width, vocab_size=1, max_len=64,
        activation=activation, pad_id=None,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):  # the weights are anything: nobody else's numbers change for them
        layer = Layer(config)
    x = torch.zeros(_TIMED_TOKENS // 64, 64, width)
    n_threads, passes = torch.get_num_threads(), list[float]()
    torch.set_num_threads(threads)
    try:
        while len(passes) < _TIMED_PASSES or sum(passes) < _TIMED_SECONDS:
            start = time.perf_counter()
            layer(x, causal=True).sum().backward()
            passes.append(time.perf_counter() - start)
    finally:
        torch.set_num_threads(n_threads)
    # The median: the first pass warms up, and a short probe meets a long wait for another process by chance.
    return _TIMED_TOKENS * _layer_work(config, 64) / statistics.median(passes)
