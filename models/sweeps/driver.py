"""The process of one sweep: it starts the runs of its trials, and says in status.json how it stands.

python -m models.sweeps.driver SWEEP_FOLDER [--owner ID] [--all-rights] [--slots N] [--parent PID:START]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from models.runs.folder import LOCK, LOG, REQUEST
from models.runs.limits import JobRefused
from models.runs.owners import MACHINE, Visitor
from models.runs.processes import SERVING, Identity, this_process
from models.runs.slots import SLOTS
from models.runs.status import State, Status
from models.runs.watch import Watch
from models.runs.worker import heeding_signals
from models.sweeps.control import check_startable, queued, usual_slots
from models.sweeps.sweep import Sweep

if TYPE_CHECKING:
    from models.sweeps.conduct import Ended

LAST_ONE_SECONDS = 10.0  # to wait for the last driver of a sweep that was paused a moment ago


def main(arguments: list[str] | None = None) -> int:
    """Works on the sweep of a folder; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m models.sweeps.driver")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parent", type=Identity.parse, help="whose end pauses the sweep")
    parser.add_argument("--owner", default="", help="the visitor to whom its runs belong")
    parser.add_argument("--all-rights", action="store_true", help="the owner has no limits of a class")
    parser.add_argument("--slots", type=int, default=0, help="runs at once; 0 for what the limits allow")
    parser.add_argument("--keep-going", action="store_true", help="its runs go on without a server, too")
    options = parser.parse_args(arguments)
    by = Visitor(options.owner, all_rights=options.all_rights)
    n_slots = min(options.slots or usual_slots(), usual_slots())
    try:
        with FileLock(options.folder / LOCK, timeout=LAST_ONE_SECONDS):
            watch = Watch(options.folder, Sweep(options.folder).status(), parent=options.parent)
            status = _work(watch, by=by, n_slots=n_slots, keep_going=options.keep_going)
            return 0 if status.state != "failed" else 1
    except Timeout:
        print("another process works on this sweep; this one ends", file=sys.stderr)
        return 1


def drive_here(sweep: Sweep, *, n_slots: int = 0, show: Callable[[int, str], None], ended: Ended) -> Status:
    """Works on a sweep in this process, for the command line; pages see it, too.

    n_slots: runs at once, also above the limit of this machine, since a person at it asks. A signal to end
    (Ctrl-C, SIGTERM) pauses it. Raises JobRefused where a process works on it or nothing is left to do.
    """
    check_startable(sweep, MACHINE)
    if n_slots:
        os.environ[SLOTS] = str(n_slots)
    try:
        with FileLock(sweep.path / LOCK, timeout=0):
            (sweep.path / REQUEST).unlink(missing_ok=True)
            watch = Watch(sweep.path, queued(sweep, sweep.status(), keep_going=True))
            return _work(watch, by=MACHINE, n_slots=n_slots or usual_slots(), show=show, ended=ended)
    except Timeout:
        raise JobRefused(f"sweep {sweep.name!r} works in another process; pause it first") from None


def _work(
    watch: Watch,
    *,
    by: Visitor,
    n_slots: int,
    keep_going: bool = False,
    show: Callable[[int, str], None] = lambda n_ended, sentence: None,
    **told: Any,
) -> Status:
    """Works until the sweep ends or is asked to end; returns its last status."""
    # A killed driver leaves no run behind that nobody watches: its runs pause when it ends.
    os.environ[SERVING] = str(this_process())
    with heeding_signals(watch), watch:
        watch.starts("loads PyTorch")
        try:
            state, sentence = _conduct(watch, show, by=by, n_slots=n_slots, keep_going=keep_going, **told)
        except Exception as error:
            with suppress(OSError), (watch.folder / LOG).open("a") as log:
                traceback.print_exc(file=log)
            state, sentence = _problem(error)
        watch.finish(state, sentence)
    return watch.status


def _conduct(watch: Watch, show: Callable[[int, str], None], **told: Any) -> tuple[State, str]:
    from models.sweeps.conduct import Conductor

    sweep = Sweep(watch.folder)
    start, before, said = time.monotonic(), watch.status.seconds, [""]
    watch.note(steps=sweep.spec.trials)

    def say(n_ended: int, sentence: str) -> None:
        show(n_ended, sentence)
        if (n_ended, sentence) != (watch.step, said[0]):
            said[0] = sentence
            watch.trains(n_ended, lambda: before + time.monotonic() - start, sentence, "")

    return Conductor(sweep, asked=lambda: watch.asked, say=say, **told).run()


def _problem(error: Exception) -> tuple[State, str]:
    """The state and the sentence after an error: a disk that refuses only pauses the sweep."""
    if isinstance(error, OSError):
        return "paused", f"{error}; then resume the sweep"
    if isinstance(error, ValueError | ArithmeticError):
        return "failed", str(error)
    return "failed", f"{type(error).__name__}: {error}; {LOG} in the sweep's folder says where"


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # everything is written
