"""How long a run takes, from what its parts cost; and what they cost by formula, before one was tried."""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from cachetools import TTLCache, cached

from ..byte_units import MB
from ..config import ModelConfig
from ..data.tasks import Batch, Task
from ..engine import size
from ..engine.transformer import Layer
from .config import RunConfig
from .loop import Training, snapshot_bytes, snapshot_steps
from .memory import activation_bytes, choose, example, memory_bytes

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
    crossing = 1.3 if len(model.stacks) == 2 else 1.0  # positions of the decoder attend twice
    work = crossing * model.n_layers * _layer_work(model, max(lengths))
    return sum(lengths) * (work + 6.0 * model.d_model * model.output_vocab_size) / rate


def _layer_work(model: ModelConfig, length: int) -> float:
    """Floating-point operations of one position in one layer, forward and backward."""
    heads = model.n_heads * model.head_size
    return 6.0 * (4 * model.d_model * heads + 2 * model.d_model * model.ff_size + 2 * heads * length)


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
    passes = list[float]()
    with _threads_kept():
        torch.set_num_threads(threads)
        while len(passes) < _TIMED_PASSES or sum(passes) < _TIMED_SECONDS:
            start = time.perf_counter()
            layer(x, causal=True).sum().backward()
            passes.append(time.perf_counter() - start)
    # The median: the first pass warms up, and a short probe meets a long wait for another process by chance.
    return _TIMED_TOKENS * _layer_work(config, 64) / statistics.median(passes)


# What a run will take: parameters, memory, time. By formula at once, or from a probe of the run itself.


@dataclass(frozen=True)
class Estimate:
    """What a run will take. seconds: from the start of its process to its end, to a factor of two, while this
    machine is as busy as it was when the costs were measured; None on a GPU, where they are not known. alone:
    the seconds on a machine that does nothing else, None where that is not known.
    """

    n_parameters: int
    memory_bytes: int
    seconds: float | None
    alone: float | None = None


def estimate(config: RunConfig, costs: Costs | None = None) -> Estimate:
    """Estimates a run. Draws a few examples of its task for their lengths.

    costs: as `probing.probe` measured them; left out, they follow from the run's arithmetic.
    Raises ValueError for a device that is not there and for a task without its data.
    """
    machine = choose(config.training)
    n_parameters, memory = size.count_parameters(config.model).total, memory_bytes(config, machine)
    if machine.device.type != "cpu":
        return Estimate(n_parameters, memory, None)
    time_taken = whole(config, costs or by_formula(config))
    return Estimate(n_parameters, memory, time_taken.seconds, time_taken.alone if costs else None)


# What a run's own work costs here and now: some of its steps, a piece of its validation, its samples,
# timed.
# An untrained model of the run's sizes does them, on examples of its task, with as many threads as the run
# will have. Nothing is written, and the numbers of other runs stay as they are.

MOST_BYTES = 256 * MB
"""A probe holds at most so much: of a larger run, it takes a smaller piece, or nothing at all."""
_STEPS_SECONDS = 0.3  # of timed steps, if one does not take longer
_PASS_SECONDS = 0.2  # what a step of a probe is to take at most; larger batches are probed in part
_LONGEST_SECONDS = 1.5  # a step of one example that takes longer is not probed
_FEWEST, _MOST = 3, 40  # timed steps
_DRAWN = 64  # examples


def probe(config: RunConfig) -> Costs | None:
    """Times the parts of a run, in about a second; None for one that is too large to be tried here, or trains
    on a GPU.

    config: with its threads. The task reads its data anew, as the run will. Raises ValueError for a task
    without its data.
    """
    n = _examples_at_once(config)
    if n == 0 or config.training.device not in ("auto", "cpu"):
        return None
    with _threads_kept():
        how, task = config.training, without_data(config.task)
        data = _once(lambda: task.sketch(1))
        n_drawn = min(how.batch_size, _DRAWN)
        examples = task.sketch(n_drawn)
        data_seconds = _once(lambda: task.sketch(n_drawn)) * (how.batch_size / n_drawn)
        piece = _piece(config, examples, n)
        update = Timed(1, 1) * (UPDATE_SECONDS * size.count_parameters(config.model).total)
        step = (piece - update) * how.accumulation + update + data_seconds
        training = _Probe(_small(config, n), _first(examples, n))
        example = _once(training.validate, warm=True) * (1 / n)
        samples = _once(torch.no_grad()(lambda: task.samples(training.model.eval(), how.seed)))
        return Costs(data, step, example, samples, _once(training.snapshot, warm=True))


class _Probe(Training):
    """A training whose every step is of the same batch, and which looks at nothing in between."""

    def __init__(self, config: RunConfig, batch: Batch) -> None:
        super().__init__(config)
        self._same, self._held_out = batch, [batch]

    def _next_batch(self) -> Batch:
        return self._same

    def _looks(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {}


@contextmanager
def _threads_kept() -> Iterator[None]:
    n_threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(n_threads)


def _examples_at_once(config: RunConfig) -> int:
    """As many of the examples that a run reads at once as a probe can afford; 0 where one is too many."""
    weights = 4 * size.FLOAT_BYTES * size.count_parameters(config.model).total
    n = config.training.n_at_once
    while n and weights + activation_bytes(config, n) > MOST_BYTES:
        n //= 2
    while n > 1 and expected_step(config, n) > _PASS_SECONDS:
        n //= 2
    return n if n and expected_step(config, n) < _LONGEST_SECONDS else 0


def _piece(config: RunConfig, examples: Batch, n: int) -> Timed:
    """One forward and backward pass over what a run reads at once, and an update. Where only `n` of these
    examples are tried, the difference to half as many says what each of the others adds.
    """
    most, half = config.training.n_at_once, max(1, n // 2)
    tried = _steps(config, examples, n)
    if n in (most, half):
        return tried * (most / n)
    return tried + (tried - _steps(config, examples, half)) * ((most - n) / (n - half))


def _small(config: RunConfig, n: int) -> RunConfig:
    """The run with `n` examples a step; not compiled, which would take longer than all that is measured."""
    alone: dict[str, Any] = {"accumulation": 1, "compile": False, "device": "cpu"}
    steps = max(config.training.steps, _MOST + 2)
    return replace(config, training=replace(config.training, **alone, batch_size=n, steps=steps))


def _first(examples: Batch, n: int) -> Batch:
    """`n` examples, some of them again and again where there are fewer."""
    at = torch.arange(n) % len(examples)
    extra = {name: value[at] for name, value in examples.extra.items()}
    return Batch(tuple(each[at] for each in examples.inputs), examples.targets[at], extra)


def _steps(config: RunConfig, examples: Batch, n: int) -> Timed:
    """A step of `n` examples: the median of a few; the first warms up."""
    training = _Probe(_small(config, n), _first(examples, n))
    next(training)
    times, end = list[Timed](), time.perf_counter() + _STEPS_SECONDS
    while len(times) < _FEWEST or (time.perf_counter() < end and len(times) < _MOST):
        times.append(_once(lambda: next(training)))
    return Timed(statistics.median(t.seconds for t in times), statistics.median(t.alone for t in times))


def without_data(task: Task) -> Task:
    """The same task with what it learnt from its data, and without these: 200 MB of text take 1 GB."""
    same = type(task)(**task.to_dict())
    same.restore(task.learnt())
    return same


def _once(work: Callable[[], object], *, warm: bool = False) -> Timed:
    if warm:
        work()
    seconds, alone = time.perf_counter(), time.thread_time()
    work()
    return Timed(time.perf_counter() - seconds, time.thread_time() - alone)
