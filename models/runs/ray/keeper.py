"""The process beside the runs that keeps a cluster's dispatcher at work, and ends when nothing is to be done.

python -m attention_lab.models.runs.ray.keeper RUNS_FOLDER ADDRESS

It does not import Ray, which may end or block a process whose cluster is gone. So it starts the dispatcher
again where that was killed, and says what became of the runs where the cluster went away.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from ...files import IMPORT_ROOT
from ..folder import (
    LOG,
    Cause,
    Status,
    ended_on_request,
    latest_attempt,
    read_request,
    read_status,
    refusal_of,
    write_status,
)
from ..jobs import KEEPER_LOCK
from . import cluster
from .cluster import Ticket, any_in, tickets

DISPATCHER = [sys.executable, "-m", "attention_lab.models.runs.ray.dispatcher"]
GONE_SECONDS = 10.0
"""A cluster that does not answer for so long is gone."""
LOOK_SECONDS = 1.0
RESUME = "resume goes on from the last checkpoint, there or here"
DEATHS = 4
"""A dispatcher that ends so often soon after its start is not started again."""
_SOON_SECONDS = 60.0
_SETTLING_SECONDS = 2.0  # within which a worker sees that its run was taken away, and ends


class Keeper:
    """Starts the dispatcher of one cluster while there are tickets for it."""

    def __init__(self, root: Path, address: str) -> None:
        self.root, self.address, self.ticket_folder = root, address, cluster.ticket_folder(root, address)

    def keep(self) -> None:
        """Returns when no ticket is left and the dispatcher has ended, or when the cluster is gone."""
        process: subprocess.Popen[bytes] | None = None
        answered, began, deaths = time.monotonic(), 0.0, 0
        while True:
            now = time.monotonic()
            ended = process is None or process.poll() is not None
            if ended and not any_in(self.ticket_folder):
                return
            if cluster.answers(self.address):
                answered = now
                if process is not None and ended:
                    deaths = deaths + 1 if process.returncode and now - began < _SOON_SECONDS else 0
                if deaths == DEATHS:
                    log = self.ticket_folder.relative_to(self.root) / LOG
                    self.give_up(f"the cluster's dispatcher was lost {DEATHS} times ({log} says why)")
                    return
                if ended:
                    process, began = self._dispatcher(), now
            elif now - answered > GONE_SECONDS:
                if process is not None:
                    process.kill()
                    process.wait()
                self.give_up(f"the cluster at {self.address} went away")
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_SECONDS) if process is not None and not ended else time.sleep(LOOK_SECONDS)

    def _dispatcher(self) -> subprocess.Popen[bytes]:
        words = [str(self.root.resolve()), self.address, "--keeper", str(os.getpid())]
        return subprocess.Popen([*DISPATCHER, *words], cwd=IMPORT_ROOT)

    def give_up(self, why: str) -> None:
        """Ends all runs that the cluster has or owes, and says why. A worker that is only cut off from the
        cluster sees a later attempt in the run's folder and ends, so that no run trains unwatched.
        """
        owed = tickets(self.ticket_folder)
        last_words = {ticket.run_id: last for ticket in owed if (last := self._last_status(ticket, why))}
        for seconds in (0.0, _SETTLING_SECONDS if last_words else 0.0):
            time.sleep(seconds)
            for run_id, status in last_words.items():
                with contextlib.suppress(OSError):
                    # A worker that wrote its sign of life at the same moment may have written over this.
                    if latest_attempt(self.root / run_id) < status.attempt:
                        write_status(self.root / run_id, status)
        for ticket in owed:
            ticket.drop()

    def _last_status(self, ticket: Ticket, why: str) -> Status | None:
        """What is to be said of a run; None where it has ended, or is no longer the cluster's."""
        folder = self.root / ticket.run_id
        now = read_status(folder)
        if not now.live or not now.node or (ticket.attempt and now.attempt > ticket.attempt):
            return None
        request = now.asked or read_request(folder)
        now, sentence = replace(now, attempt=now.attempt + 1), f"{why} at step {now.step:,}; {RESUME}"
        if request:
            return ended_on_request(now, request, sentence)
        return refusal_of(now, sentence, Cause.CLUSTER)


def main(arguments: list[str] | None = None) -> int:
    """Serves until there is nothing to do; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m attention_lab.models.runs.ray.keeper")
    parser.add_argument("root", type=Path)
    parser.add_argument("address")
    options = parser.parse_args(arguments)
    os.environ["ATTENTION_LAB_RUNS"] = str(options.root)
    keeper = Keeper(options.root, options.address)
    while any_in(keeper.ticket_folder):  # those that came after the last look, too
        try:
            with FileLock(keeper.ticket_folder / KEEPER_LOCK, timeout=1.0):
                keeper.keep()
        except Timeout:
            return 0  # another serves
    return 0


if __name__ == "__main__":
    sys.exit(main())
