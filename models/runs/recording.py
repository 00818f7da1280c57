"""Writes a run down while it trains (`train_into`): records, snapshots, checkpoints, TensorBoard's events."""

from __future__ import annotations

import json
import math
import os
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

from safetensors.torch import save
from tensorboardX.proto.event_pb2 import Event
from tensorboardX.proto.summary_pb2 import Summary
from tensorboardX.record_writer import RecordWriter
from torch import Tensor

from ..data.tasks import Reading
from ..files import write_json, write_whole, writing
from ..training.config import RunConfig, TrainingConfig
from ..training.loop import Record, Training
from ..zoo.folders import CHECKPOINT, PROBE
from . import results
from .checkpoints import Checkpoint, write_checkpoint
from .folder import METRICS, PICTURES, SAMPLES, SNAPSHOTS, RunFolder, cut_files, cut_lines, numbered


class Events:
    """A new event file in a folder; its steps, from `first_step` on, replace those of older files.

    Raises WriteError where the disk refuses.
    """

    def __init__(self, folder: Path, first_step: int) -> None:
        name = f"events.out.tfevents.{time.time_ns() // 1_000_000}.{socket.gethostname()}.{os.getpid()}"
        self._path = folder / name
        with writing(self._path):
            self._file = RecordWriter(str(self._path))
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))
        if first_step > 1:
            start = Event(wall_time=time.time(), step=first_step)
            start.session_log.status = 1  # SessionLog.START: later steps of older files were never reached
            self._write(start)
        self.flush()

    def add(self, step: int, values: dict[str, float]) -> None:
        """Adds the numbers of one step, by their names."""
        entries = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._write(Event(wall_time=time.time(), step=step, summary=Summary(value=entries)))

    def close(self) -> None:
        """Writes the rest and closes the file."""
        with writing(self._path):
            self._file.close()

    def flush(self) -> None:
        """Hands everything that was added to the operating system."""
        with writing(self._path):
            self._file.flush()

    def _write(self, event: Event) -> None:
        with writing(self._path):
            self._file.write(event.SerializeToString())


# The recorder

MOST_LINES = 3_500
"""The lines that metrics.jsonl may have; those of validations and of norms come on top."""
_FLUSH_SECONDS = 0.5
_CHECKPOINT_SHARE = 0.02  # the largest share of the time that checkpoints may take


def train_into(
    folder: RunFolder,
    config: RunConfig,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    on_start: Callable[[Training], None] = lambda training: None,
    on_record: Callable[[Record], None] = lambda record: None,
) -> bool:
    """Trains, and writes everything to the run's folder; True at the end, False where it was stopped before.

    It also ends where `patience` validations in a row were no better; `results.outcome_of` words that.

    It goes on from the last checkpoint, where there is one, and removes what was written after it.
    should_stop: asked after each step; a stop writes a checkpoint. on_start: is given the training before its
    first step.

    Raises WriteError where the disk refuses (the last checkpoint then stands), FileError for a damaged
    folder, and what `Training` raises.
    """
    checkpoint = folder.checkpoint()
    training = Training(config)
    if checkpoint:
        training.load_state(checkpoint.tensors, checkpoint.values)
    with Recorder(folder, config.training, training.step) as recorder:
        on_start(training)  # the disk has taken what is written so far
        if training.step == 0:
            recorder.begin(config.task.probe(), training.snapshot())
            recorder.checkpoint(training)
        stop = False
        while True:
            if recorder.improved:
                recorder.keep_best(training.model.state_dict())
            stop = stop or should_stop()
            settled = not training.waiting  # else the weights are ahead of what is written
            if settled and (stop or recorder.checkpoint_is_due):
                recorder.checkpoint(training)
            if settled and stop:
                return training.is_over
            record = None if recorder.has_waited_enough else next(training, None)
            if record is None:
                recorder.end(training)
                return True
            recorder.write(record, training.seconds)
            on_record(record)


class Recorder:
    """Writes a run's records, thinned and in batches, so that training hardly waits. A context manager.

    step: the step of the last checkpoint; what was written of later steps is removed, and the best weights
    are those of the steps up to it. improved: whether the record written last has the best validation so far.
    Raises WriteError where the disk refuses.
    """

    def __init__(self, folder: RunFolder, config: TrainingConfig, step: int) -> None:
        self._path, self._config = folder.path, config
        self._every = math.ceil(config.steps / MOST_LINES)
        self._checkpointed_step = step if step else -1
        self._due = time.monotonic() + config.checkpoint_seconds
        self._flushed = time.monotonic()
        self._cut(step)
        self._tracker = results.tracker_of(folder.metrics(), config.to_dict(), folder.description())
        results.settle_best(folder.path, self._tracker.best)
        self.improved = False
        with ExitStack() as stack, writing(self._path / METRICS):
            self._metrics: IO[str] = stack.enter_context(_append(self._path / METRICS))
            self._samples: IO[str] = stack.enter_context(_append(self._path / SAMPLES))
            self._events = Events(self._path, step + 1)
            stack.callback(self._events.close)
            self._open = stack.pop_all()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: Any) -> None:
        # Closing would try again to write what a full disk refused: the first error is enough.
        with suppress(OSError) if error else writing(self._path / METRICS):
            self._open.close()

    def begin(self, probe: Reading, untrained: dict[str, Tensor]) -> None:
        """Writes the example that is watched, and its patterns in the untrained model."""
        picture = None if probe.picture is None else probe.picture.tolist()
        write_json(self._path / PROBE, {"tokens": probe.tokens, "text": probe.text, "picture": picture})
        keep(self._path / SNAPSHOTS, 0, untrained)

    def write(self, record: Record, seconds: float) -> None:
        """Writes the record of a step. seconds: of training so far."""
        notable = record.validation is not None or record.step == self._config.steps
        if notable or record.norms or record.step % self._every == 0:
            line = _line(record, seconds)
            with writing(self._path / METRICS):
                self._metrics.write(line)
        if notable or record.norms:
            self._events.add(record.step, _scalars(record))
        validation = record.validation
        self.improved = validation is not None and self._tracker.take(record.step, validation)
        if record.samples:
            words = [
                {"given": each.given, "made": each.made, "wanted": each.wanted} for each in record.samples
            ]
            with writing(self._path / SAMPLES):
                line = json.dumps({"step": record.step, "samples": words}, ensure_ascii=False)
                self._samples.write(f"{line}\n")
        for each in record.samples or ():
            if each.originals is not None and each.pictures is not None:
                pictures = {"originals": each.originals, "pictures": each.pictures}
                keep(self._path / PICTURES, record.step, pictures)
        if record.snapshot is not None:
            keep(self._path / SNAPSHOTS, record.step, record.snapshot)
        if time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self._flush()

    def keep_best(self, weights: dict[str, Tensor]) -> None:
        """Keeps the weights of the step that was written last, whose validation is the best so far."""
        if self._tracker.best:
            results.write_best(self._path, self._tracker.best, weights)
        self.improved = False

    @property
    def has_waited_enough(self) -> bool:
        """Whether so many validations in a row were no better that the training ends early."""
        return 0 < self._config.patience <= self._tracker.waited

    def end(self, training: Training) -> None:
        """Writes the last checkpoint, and the patterns of the last step where it came early."""
        if training.step < self._config.steps:
            keep(self._path / SNAPSHOTS, training.step, training.snapshot())
        self.checkpoint(training)

    @property
    def checkpoint_is_due(self) -> bool:
        return time.monotonic() >= self._due

    def checkpoint(self, training: Training) -> None:
        """Writes the records so far, and then the state, unless this step's checkpoint is written already."""
        if training.step == self._checkpointed_step:
            return
        start = time.monotonic()
        self._flush()
        results.sync_best(self._path)
        tensors, values = training.state()
        write_checkpoint(self._path / CHECKPOINT, Checkpoint(training.step, tensors, values))
        results.settle_best(self._path, self._tracker.best)
        self._checkpointed_step = training.step
        now = time.monotonic()
        self._due = now + max(self._config.checkpoint_seconds, (now - start) / _CHECKPOINT_SHARE)

    def _flush(self) -> None:
        with writing(self._path / METRICS):
            self._metrics.flush()
            self._samples.flush()
        self._events.flush()
        self._flushed = time.monotonic()

    def _cut(self, step: int) -> None:
        """Removes what was written after the step, and what a kill left half-written."""
        with writing(self._path):
            for path in self._path.rglob(".*.tmp"):
                path.unlink(missing_ok=True)
            for name in (SNAPSHOTS, PICTURES):
                cut_files(self._path / name, step)
        for name in (METRICS, SAMPLES):
            cut_lines(self._path / name, step)


def keep(folder: Path, step: int, tensors: dict[str, Tensor]) -> None:
    """Writes the tensors of a step into a folder of a run. Raises WriteError where the disk refuses."""
    path = folder / numbered(step)
    with writing(path):
        folder.mkdir(exist_ok=True)
    write_whole(path, save({name: each.detach().cpu().contiguous() for name, each in tensors.items()}))


def _append(path: Any) -> IO[str]:
    return path.open("a", encoding="utf-8")


def _line(record: Record, seconds: float) -> str:
    values: dict[str, Any] = {
        "step": record.step,
        "loss": record.loss,
        "losses": record.losses,
        "learning_rate": record.learning_rate,
        "gradient_norm": record.gradient_norm,
        "tokens_per_second": round(record.tokens_per_second, 1),
        "memory": record.memory,
        "tokens": record.tokens,
        "seconds": round(seconds, 3),
    }
    if record.share_of_peak is not None:
        values["share_of_peak"] = round(record.share_of_peak, 4)
    if record.validation is not None:
        values["validation"] = record.validation
        values["intervals"], values["n"] = record.intervals or {}, record.n or {}
    if record.norms:
        values["norms"] = record.norms
    return f"{json.dumps(_finite(values))}\n"


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    """The same without the numbers that JSON does not have, such as the norms of a step that float16 left
    out, since its gradients overflowed.
    """
    known: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            known[name] = _finite(value)
        elif all(map(math.isfinite, value if isinstance(value, list | tuple) else (value,))):
            known[name] = value
    return known


def _scalars(record: Record) -> dict[str, float]:
    """What TensorBoard shows, training and validation losses in one group."""
    validation = {f"validation/{name}": value for name, value in (record.validation or {}).items()}
    return {
        **{f"training/{name}": value for name, value in record.losses.items()},
        **validation,
        "learning rate": record.learning_rate,
        "gradient norm": record.gradient_norm,
        "tokens per second": record.tokens_per_second,
        **{f"gradient norm/{part}": both[0] for part, both in (record.norms or {}).items()},
        **{f"weight norm/{part}": both[1] for part, both in (record.norms or {}).items()},
    }
