"""The process beside the runs that gives them to a Ray cluster, watches them there, and ends when idle.

python -m models.runs.ray.dispatcher RUNS_FOLDER ADDRESS --keeper PID

It lives apart from the server, since Ray ends every process of a cluster that goes away. What is asked of a
run stands in its folder, as on this machine; this process looks there, too. Its parent, the keeper, starts
it, starts it again where it was killed, and says what became of the runs where the cluster went away.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

from filelock import FileLock, Timeout

from models.runs.ray import cluster
from models.runs.ray.dispatching import Dispatcher
from models.runs.ray.keeper import RESUME
from models.runs.ray.tickets import any_in, tickets
from models.runs.status import read_status, refused, write_status
from models.zoo.run_folders import runs_url

ROOT = Path(__file__).parents[3]
LOCK = "dispatcher.lock"
CONNECT_SECONDS = 25.0
"""What does not talk as Ray does for so long is no cluster; a run waits longer for its first sign of life."""
NAMED = "give the address that `ray start` printed; " + RESUME
_RAY_SECONDS = 10  # after which Ray gives up its search for a machine of the cluster by that address
LAST_ONE_SECONDS = 10.0  # to wait for one whose keeper was killed, and that has not seen that yet


def _connected(found: str) -> Any:
    """Ray, connected to the cluster; its workers find the same code and the same folder of runs."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_gcs_server_request_timeout_seconds", str(_RAY_SECONDS))
    os.environ.setdefault("RAY_TRAIN_ENABLE_STATE_ACTOR_RECONCILIATION", "0")
    if cluster.is_here(found):
        # Else Ray reads a loopback address as that of the network card, where a cluster of this machine alone
        # does not listen. The variable means any system, whatever its name says.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    import ray

    variables = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("ATTENTION_LAB_RUNS", "ATTENTION_LAB_LIMITS"))
    }
    here: dict[str, Any] = {"_node_ip_address": "127.0.0.1"} if cluster.is_here(found) else {}
    ray.init(
        address=found,
        namespace="attention-lab",
        log_to_driver=False,
        logging_level=logging.WARNING,
        runtime_env={"env_vars": {**variables, "PYTHONPATH": str(ROOT)}},
        **here,
    )
    return ray


def _refuse(root: Path, office: Path, reason: str) -> None:
    """Ends the runs that wait, since the cluster cannot be reached."""
    for ticket in tickets(office):
        folder = root / ticket.run_id
        now = read_status(folder)
        if now.live:
            said = f"{cluster.UNREACHED} ({reason.splitlines()[0][:300]}); {NAMED}"
            write_status(folder, refused(now, said))
        ticket.drop()


@contextmanager
def _within(seconds: float, root: Path, office: Path, found: str) -> Iterator[None]:
    """Ray waits for ever for what listens and is no Ray; this process says so after a while, and ends."""

    def give_up() -> None:
        _refuse(root, office, f"what listens at {found} gave no answer of Ray's within {seconds:.0f} seconds")
        os._exit(1)

    timer = Timer(seconds, give_up)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def main(arguments: list[str] | None = None) -> int:
    """Serves until idle; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m models.runs.ray.dispatcher")
    parser.add_argument("root", type=Path)
    parser.add_argument("address")
    parser.add_argument("--keeper", type=int, required=True, help="the process whose end ends this one")
    options = parser.parse_args(arguments)
    office = cluster.office(options.root, options.address)
    if not runs_url():
        os.environ["ATTENTION_LAB_RUNS"] = str(options.root)
    lock, ray = FileLock(office / LOCK, timeout=LAST_ONE_SECONDS), None
    while any_in(office):  # those that came after the last look, too
        try:
            with lock:
                try:
                    with _within(CONNECT_SECONDS, options.root, office, options.address):
                        ray = ray or _connected(options.address)
                except Exception as error:  # whatever Ray raises: the runs that wait must hear of it
                    cause = error.__cause__ or error  # Ray says why in the first of its errors
                    _refuse(options.root, office, f"{type(cause).__name__}: {cause}")
                    raise
                dispatcher = Dispatcher(options.root, options.address, ray, options.keeper)
                try:
                    dispatcher.serve()
                finally:
                    (options.root / ".ray" / dispatcher.token).unlink(missing_ok=True)
        except Timeout:
            return 0  # another serves
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
