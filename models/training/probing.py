"""What a run's own work costs here and now: some of its steps, a piece of its validation, its samples, timed.

An untrained model of the run's sizes does them, on examples of its task, with as many threads as the run will
have. Nothing is written, and the numbers of other runs stay as they are.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from models.byte_units import MB
from models.data.tasks import Batch, Task
from models.engine import size
from models.training.config import RunConfig
from models.training.durations import UPDATE_SECONDS, Costs, Timed, expected_step
from models.training.loop import Training
from models.training.memory import activation_bytes

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
        return _timed(config, n)


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


def _timed(config: RunConfig, n: int) -> Costs:
    how, task = config.training, _without_data(config.task)
    data = _once(lambda: task.sketched(1))
    n_drawn = min(how.batch_size, _DRAWN)
    examples = task.sketched(n_drawn)
    drawn = _once(lambda: task.sketched(n_drawn)) * (how.batch_size / n_drawn)
    piece = _piece(config, examples, n)
    update = Timed(1, 1) * (UPDATE_SECONDS * size.count_parameters(config.model).total)
    step = (piece - update) * how.accumulation + update + drawn
    training = _Probe(_small(config, n), _first(examples, n))
    return Costs(
        data,
        step,
        _once(training.validate, warm=True) * (1 / n),
        _once(torch.no_grad()(lambda: task.samples(training.model.eval(), how.seed))),
        _once(training.snapshot, warm=True),
    )


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
    changes: dict[str, Any] = {
        "batch_size": n,
        "accumulation": 1,
        "compile": False,
        "device": "cpu",
        "workers": 1,
    }
    steps = max(config.training.steps, _MOST + 2)
    return replace(config, training=replace(config.training, **changes, steps=steps))


def _first(examples: Batch, n: int) -> Batch:
    """`n` examples, some of them again and again where there are fewer."""
    at = torch.arange(n) % len(examples)
    extra = {name: value[at] for name, value in examples.extra.items()}
    return Batch(tuple(each[at] for each in examples.inputs), examples.targets[at], extra)


def _steps(config: RunConfig, examples: Batch, n: int) -> Timed:
    """A step of `n` examples: the median of a few; the first warms up."""
    training = _Probe(_small(config, n), _first(examples, n))
    next(training)
    found, end = list[Timed](), time.perf_counter() + _STEPS_SECONDS
    while len(found) < _FEWEST or (time.perf_counter() < end and len(found) < _MOST):
        found.append(_once(lambda: next(training)))
    return Timed(statistics.median(t.seconds for t in found), statistics.median(t.alone for t in found))


def _without_data(task: Task) -> Task:
    """The same task with what it learnt from its data, and without these."""
    same = type(task)(**task.to_dict())
    same.restore(task.learnt())
    return same


def _once(work: Callable[[], object], *, warm: bool = False) -> Timed:
    if warm:
        work()
    seconds, alone = time.perf_counter(), time.thread_time()
    work()
    return Timed(time.perf_counter() - seconds, time.thread_time() - alone)
