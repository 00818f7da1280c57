"""Estimates a run before it starts: parameters, memory, and the time that its arithmetic takes here now."""

import math
import os
import statistics
import time
from dataclasses import dataclass
from typing import Any

import torch
from cachetools import LRUCache, TTLCache, cached

from ..byte_units import MB
from ..config import ModelConfig
from ..data.tasks import Task
from ..engine import size
from ..engine.transformer import Layer
from .config import RunConfig
from .loop import snapshot_bytes, snapshot_steps
from .memory import choose, example, memory_bytes

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
START_SECONDS = 3.0
"""What a run's process takes before it has a model, where it need not wait: Python, PyTorch, the folder."""
_DRAWN = 16  # examples


def whole_seconds(config: RunConfig) -> float:
    """A run from the start of its process to its end, where nothing goes before it: by its arithmetic, from
    the time that one layer of such a model takes here now.
    """
    how, one = config.training, _example_seconds(config)
    n_validations = -(-how.steps // how.validation_interval)  # the last step is validated, too
    each = snapshot_bytes(config.model, config.task.probe())
    n_snapshots = len(snapshot_steps(how.steps, how.n_snapshots, each))
    total = START_SECONDS + how.steps * (_step_seconds(config) + _RECORD_SECONDS)
    # A validation makes two forward passes over an example, and a forward pass is a third of what `one` is.
    validation = 2 * one / 3 * how.held_out
    total += validation * (n_validations + _REPORT) + n_snapshots * one / 3
    written = 3 * size.FLOAT_BYTES * size.count_parameters(config.model).total / _WRITTEN_BYTES
    checkpoint = written + _CHECKPOINT_SECONDS
    n_checkpoints = 2 + total / max(how.checkpoint_seconds, 50 * checkpoint)
    timed = START_SECONDS + 60 * how.minutes + validation * _REPORT if how.minutes else math.inf
    return min(total + checkpoint * n_checkpoints, timed)


def _step_seconds(config: RunConfig) -> float:
    """Seconds of one step: its batch is drawn, read and learnt from."""
    passes = 4 if config.training.gradient_checkpointing else 3  # forward; backward costs two
    each = _example_seconds(config) * passes / 3 + _drawing_seconds(config.task)
    n_parameters = size.count_parameters(config.model).total
    return config.training.batch_size * each + n_parameters * UPDATE_SECONDS + _STEP_SECONDS


@cached(LRUCache(64), key=lambda task: (task.name, str(task.to_dict())))  # keeps no task, nor its data
def _drawing_seconds(task: Task) -> float:
    """Seconds in which one example of a task is drawn."""
    task.sketch(1)  # reads its data
    start = time.perf_counter()
    task.sketch(_DRAWN)
    return (time.perf_counter() - start) / _DRAWN


def _example_seconds(config: RunConfig) -> float:
    """Seconds of one example forward and backward."""
    model, how = config.model, config.training
    lengths = example(config.task).lengths
    threads = min(how.threads or torch.get_num_threads(), os.cpu_count() or 1)
    rate = _rate(min(model.d_model, _TIMED_WIDTH), model.activation, threads)
    return sum(lengths) * size.operations_of_token(model, max(lengths)) / rate


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
    passes, before = list[float](), torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        while len(passes) < _TIMED_PASSES or sum(passes) < _TIMED_SECONDS:
            start = time.perf_counter()
            layer(x, causal=True).sum().backward()
            passes.append(time.perf_counter() - start)
    finally:
        torch.set_num_threads(before)
    # The median: the first pass warms up, and a short one meets a long wait for another process by chance.
    return _TIMED_TOKENS * size.operations_of_layer(config, 64) / statistics.median(passes)


@dataclass(frozen=True)
class Estimate:
    """What a run will take. seconds: from the start of its process to its end, to a factor of two, while this
    machine is as busy as it is now; None on a GPU, where they are not known.
    """

    n_parameters: int
    memory_bytes: int
    seconds: float | None


def estimate(config: RunConfig) -> Estimate:
    """Estimates a run. Draws a few examples of its task for their lengths.

    Raises ValueError for a device that is not there and for a task without its data.
    """
    machine = choose(config.training)
    n_parameters, memory = size.count_parameters(config.model).total, memory_bytes(config, machine)
    seconds = whole_seconds(config) if machine.device.type == "cpu" else None
    return Estimate(n_parameters, memory, seconds)


def without_data(task: Task) -> Task:
    """The same task with what it learnt from its data, and without these: 200 MB of text take 1 GB."""
    same = type(task)(**task.to_dict())
    same.restore(task.learnt())
    return same
