"""The process of one run: it waits for its slot, trains, and says in status.json how it ended.

python -m models.runs.worker RUN_FOLDER [--parent PID:START]
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from filelock import FileLock, Timeout

from models.runs import limits, slots
from models.runs.data_files import check_files
from models.runs.folder import LOCK, LOG, REQUEST, RunFolder
from models.runs.limits import JobRefused
from models.runs.local import refuse_url
from models.runs.owners import owned
from models.runs.processes import Identity, memory_left
from models.runs.status import State, Status, ended_by, read_request, read_status
from models.runs.watch import Watch
from models.training.peers import PeerLost
from models.zoo.run_folders import runs_root

if TYPE_CHECKING:
    from models.training.loop import Record, Training

LAST_ONE_SECONDS = 10.0  # to wait for the last process of a run that was paused a moment ago
TURN_SECONDS = 0.3


def main(arguments: list[str] | None = None) -> int:
    """Trains the run of a folder; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m models.runs.worker")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parent", type=Identity.parse, help="whose end pauses the run")
    options = parser.parse_args(arguments)
    try:
        with FileLock(options.folder / LOCK, timeout=LAST_ONE_SECONDS):
            return _attend(options.folder, options.parent)
    except Timeout:
        print("another process trains this run; this one ends", file=sys.stderr)
        return 1


def _attend(folder: Path, parent: Identity | None) -> int:
    """Waits for a slot and trains. The process holds the run's lock already."""
    watch = Watch(folder, read_status(folder), parent=parent, minutes=owned(folder).minutes)
    with heeding_signals(watch), watch:
        try:
            slot = _wait_for_slot(watch)
        except Exception as error:
            _end(watch, error)
            return 1
        if slot is None:
            watch.finish(ended_by(watch.asked), _left(watch))
            return 0
        if slot.kind == "gpu":
            os.environ["CUDA_VISIBLE_DEVICES"] = slots.visible_gpus()[slot.index]
        return 0 if work(watch).state != "failed" else 1


class Signalled(Protocol):
    """Whoever takes up a signal: it may take no lock, so it only sets this."""

    signalled: bool


@contextmanager
def heeding_signals(watch: Signalled) -> Iterator[None]:
    """Inside, a signal to end (SIGTERM, Ctrl-C) is a request to pause, which the watch takes up."""

    def on_signal(number: int, frame: Any) -> None:
        watch.signalled = True

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait_for_slot(watch: Watch) -> slots.Slot | None:
    """Waits for the run's turn and returns its slot; None if the run is asked to end before."""
    root, run_id = watch.folder.parent, watch.folder.name
    training = RunFolder(watch.folder).description()["training"]
    kind = slots.kind_for(str(training["device"]))
    said = ""
    try:
        while not watch.asked:
            slot = slots.take(root, run_id, kind)
            if isinstance(slot, slots.Slot):
                return slot
            others = f", {slot} before it" if slot else ", next in turn"
            sentence = f"waits until the {kind.upper()} is free{others}"
            if sentence != said:
                said = sentence
                watch.note(sentence=sentence)
            time.sleep(TURN_SECONDS)
        return None
    finally:
        slots.leave(root, run_id)


def _left(watch: Watch) -> str:
    """Says that a run was taken out of the queue; "" where the watch itself says why it ends."""
    if read_request(watch.folder) is None:
        return ""
    done = f"it has done {watch.step:,} steps" if watch.step else "it has not trained yet"
    return f"it left the queue before its turn, and {done}; resume puts it into the queue again"


def train_here(folder: RunFolder, on_record: Callable[[Record], None] | None = None) -> Status:
    """Trains a run in this process, for the command line: at once and without a slot. Pages see it, too.

    A signal to end (Ctrl-C, SIGTERM) pauses it after its step. Raises JobRefused where a process trains it.
    """
    if folder.path.parent == runs_root():
        refuse_url()
    try:
        with FileLock(folder.path / LOCK, timeout=0):
            now = time.time()
            steps = folder.description()["training"]["steps"]
            before = read_status(folder.path)
            if before.live and before.node:
                raise JobRefused(f"run {folder.name!r} is {before.state} on a cluster; stop it first")
            again = before.attempt + 1 if before.attempt else 0
            paused = before.state == "paused"
            before = replace(
                before, steps=steps, queued_at=now, keep_going=True, node="", attempt=again, resumed=paused
            )
            (folder.path / REQUEST).unlink(missing_ok=True)
            watch = Watch(folder.path, before)
            with heeding_signals(watch), watch:
                return work(watch, on_record)
    except Timeout:
        raise JobRefused(f"run {folder.name!r} trains in another process; stop it first") from None


def work(watch: Watch, on_record: Callable[[Record], None] | None = None) -> Status:
    """Trains the run of the watch's folder until it ends or is asked to end; returns its last status.

    on_record: is given every step's record, to show it.
    """
    watch.starts("loads PyTorch")
    try:
        state, outcome = _train(watch, on_record)
    except PeerLost:
        raise  # whoever started the group starts it again
    except Exception as error:
        with suppress(OSError), (watch.folder / LOG).open("a") as log:
            traceback.print_exc(file=log)
        _end(watch, error)
    else:
        watch.finish(state, outcome=outcome)
    return watch.status


def _end(watch: Watch, error: Exception) -> None:
    """Writes the last status of a run that met an error: what a paused one was refused for pauses it."""
    refused = watch.status.resumed and watch.asked != "stop" and isinstance(error, ValueError | OSError)
    watch.finish("paused" if refused else "failed", _reason(error, watch.status), refused=refused)


def _train(watch: Watch, on_record: Callable[[Record], None] | None) -> tuple[State, str]:
    """Trains until the end or a request; returns the final state, and what is to be said of it."""
    from models.runs.outcome import outcome_of
    from models.runs.recording import train_into

    folder = RunFolder(watch.folder)
    check_files(folder.description())
    config = folder.config()
    limits.refuse_above(config, _memory_left(config.training.device))
    watch.note(smaller=limits.out_of_memory(config))

    def starts(training: Training) -> None:
        device = next(training.model.parameters()).device.type
        watch.trains(training.step, lambda: training.seconds, _said(training), device)

    def note(record: Record) -> None:
        watch.step = record.step
        if on_record is not None:
            on_record(record)

    done = train_into(
        folder,
        config,
        resume=True,
        should_stop=lambda: bool(watch.asked),
        on_start=starts,
        on_record=note,
    )
    if not done:
        return ended_by(watch.asked), ""
    unreported = _report(folder)
    usual = config.task.training.get("learning_rate")
    return "finished", "; ".join(filter(None, [outcome_of(folder, watch.step, usual), unreported]))


def _report(folder: RunFolder) -> str:
    """Writes down what the model scores; returns what kept it from that, "" where nothing did. The run has
    finished either way, and its last checkpoint stands.
    """
    from models.runs.report import write_report

    try:
        write_report(folder)
    except Exception as error:
        with suppress(OSError), (folder.path / LOG).open("a") as log:
            traceback.print_exc(file=log)
        known = isinstance(error, ValueError | OSError)
        why = str(error).partition(";")[0] if known else f"{LOG} in the run's folder says why"
        return f"its report is missing ({why}); python -m models.training report {folder.id} writes it"
    return ""


def _said(training: Training) -> str:
    """What was chosen; and where one process does what several were asked for."""
    n = training.config.training.workers
    alone = n > 1 and type(training).__name__ == "Training"
    return (
        f"{training.chosen}, in one process: only a Ray cluster gives workers={n}"
        if alone
        else training.chosen
    )


def _memory_left(device: str) -> int:
    """Bytes that are free where a run on `device` will train."""
    import torch

    if device in ("auto", "cuda") and torch.cuda.is_available():
        return torch.cuda.mem_get_info()[0]
    return memory_left()


def _reason(error: Exception, status: Status) -> str:
    """One sentence that says why a run failed; everything else is in its log."""
    if _is_out_of_memory(error):
        return f"out of memory at step {status.step + 1:,}; {status.smaller or 'choose a smaller model'}"
    if isinstance(error, ValueError | OSError | ArithmeticError):
        return str(error)
    return f"{type(error).__name__}: {error}; {LOG} in the run's folder says where"


def _is_out_of_memory(error: Exception) -> bool:
    names = [kind.__name__ for kind in type(error).__mro__]
    return "MemoryError" in names or "OutOfMemoryError" in names or "can't allocate memory" in str(error)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # everything is written: unloading PyTorch would only keep the slot from the next run
