"""The parameters, memory and time of a run, estimated before it starts, without building anything large."""

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from cachetools import LRUCache, TTLCache, cached

from models.byte_units import MB
from models.config import ModelConfig
from models.data.tasks import Task
from models.engine import size
from models.engine.layers import Layer
from models.training.config import RunConfig
from models.training.devices import Machine, choose

PROCESS_BYTES = 346 * MB
"""What Python with PyTorch holds before it has a model."""
_TIMED_TOKENS, _TIMED_WIDTH = 512, 256  # of the layer that is timed: small, so that the estimate is quick
_UPDATE_SECONDS = 2e-9  # of the optimiser, per parameter
_STEP_SECONDS = 1e-3  # of everything that does not grow with the model
FRESH_SECONDS = 10.0
"""A measured speed of the machine counts for so long."""
_DRAWN = 32  # examples
_TIMED_SECONDS, _TIMED_PASSES = 0.05, 5


@dataclass(frozen=True)
class Estimate:
    """What a run will take. seconds: of the whole run while this machine is as busy as it is now, to a factor
    of two; None on a GPU, where they are not known.
    """

    n_parameters: int
    memory_bytes: int
    seconds: float | None


class Example(NamedTuple):
    """The positions of each input of a task's example, and the bytes of the example itself."""

    lengths: tuple[int, ...]
    n_bytes: int


def estimate(config: RunConfig) -> Estimate:
    """Estimates a run. Draws a few examples of its task for their lengths.

    Raises ValueError for a device that is not there and for a task without its data.
    """
    machine = choose(config.training)
    n_parameters = size.count_parameters(config.model).total
    seconds = _seconds(config, n_parameters) if machine.device.type == "cpu" else None
    return Estimate(n_parameters, memory_bytes(config, machine), seconds)


def memory_bytes(config: RunConfig, machine: Machine | None = None) -> int:
    """The bytes of weights, gradients and the optimiser's two moments, of what one forward pass keeps for the
    backward pass, and of the held-out examples. A validation reads as many examples at once as a pass does
    and keeps nothing of them.
    """
    machine = machine or choose(config.training)
    how = config.training
    kept = how.held_out * _example(config.task).n_bytes
    kept += activation_bytes(config, how.n_at_once, half=machine.precision != torch.float32)
    process = PROCESS_BYTES if machine.device.type == "cpu" else 0
    return process + 4 * size.FLOAT_BYTES * size.count_parameters(config.model).total + kept


def activation_bytes(config: RunConfig, examples: int, *, half: bool = False) -> int:
    """What a forward pass over `examples` of a run's task keeps for the backward pass, in bytes."""
    return size.activation_bytes(
        config.model,
        _example(config.task).lengths,
        examples,
        recompute=config.training.gradient_checkpointing,
        half=half,
    )


def fitting_sizes(config: RunConfig, limit_bytes: int) -> dict[str, Any]:
    """Changes each of which lets a run fit by itself: field -> the value nearest to the present one.

    Empty where no such change is enough.
    """
    found: dict[str, Any] = {}
    for name, changed in _CHANGES.items():
        value: Any = None
        trial: RunConfig | None = config
        while trial is not None and memory_bytes(trial) > limit_bytes:
            value, trial = changed(trial)
        if trial is not None and value is not None:
            found[name] = value
    return found


def remedy(config: RunConfig, limit_bytes: int) -> str:
    """The sizes that fit, in words, to end a sentence with."""
    sizes = fitting_sizes(config, limit_bytes)
    if not sizes:
        return "no single change is enough: choose a much smaller model, and smaller batches"
    return "try " + ", or ".join(f"{name}={value}" for name, value in sizes.items())


_Change = tuple[Any, RunConfig | None]


def _halved(name: str) -> Callable[[RunConfig], _Change]:
    """A change of the model: half of one of its sizes."""

    def change(config: RunConfig) -> _Change:
        model, value = config.model, getattr(config.model, name) // 2
        derived: dict[str, Any] = {}
        if name == "d_model":
            derived = {
                "d_head": None,
                "d_ff": None if model.ff_size in (0, 4 * model.d_model) else model.ff_size // 2,
            }
        try:
            return value, replace(config, model=replace(model, **{name: value}, **derived))
        except ValueError:
            return None, None

    return change


def _smaller_batch(config: RunConfig) -> _Change:
    value = config.training.batch_size // 2
    if value < max(1, config.training.accumulation):
        return None, None
    return value, replace(config, training=replace(config.training, batch_size=value))


def _more_pieces(config: RunConfig) -> _Change:
    value = config.training.accumulation * 2
    if value > config.training.batch_size:
        return None, None
    return value, replace(config, training=replace(config.training, accumulation=value))


def _recomputed(config: RunConfig) -> _Change:
    if config.training.gradient_checkpointing:
        return None, None
    return True, replace(config, training=replace(config.training, gradient_checkpointing=True))


_CHANGES: dict[str, Callable[[RunConfig], _Change]] = {
    "accumulation": _more_pieces,
    "batch_size": _smaller_batch,
    "gradient_checkpointing": _recomputed,
    "d_model": _halved("d_model"),
    "n_layers": _halved("n_layers"),
}


@cached(LRUCache(64), key=lambda task: (task.name, str(task.to_dict())))  # keeps no task, nor its data
def _example(task: Task) -> Example:
    """The size of the task's examples, estimated from a few of them."""
    batch = task.sketched(_DRAWN)
    held = sum(each.nbytes for each in (*batch.inputs, batch.targets, *batch.extra.values()))
    return Example(tuple(each.shape[1] for each in batch.inputs), held // _DRAWN)


def _seconds(config: RunConfig, n_parameters: int) -> float:
    """Seconds of all steps and validations, from the time that one layer of such a model takes here now."""
    model, how = config.model, config.training
    positions = sum(_example(config.task).lengths)
    work = _work_per_position(model, max(_example(config.task).lengths))
    threads = min(how.threads or torch.get_num_threads(), os.cpu_count() or 1)
    rate = _rate(min(model.d_model, _TIMED_WIDTH), model.activation, threads)
    passes = 4 if how.gradient_checkpointing else 3  # forward; backward costs two
    example = positions * work / rate
    step = how.batch_size * example * passes / 3 + n_parameters * _UPDATE_SECONDS + _STEP_SECONDS
    validations = how.steps // how.validation_interval
    return how.steps * step + validations * how.held_out * example * 2 / 3


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
    layer, x = Layer(config), torch.zeros(_TIMED_TOKENS // 64, 64, width)
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
