"""The process beside the runs that gives them to a Ray cluster, watches them there, and ends when idle.

python -m models.runs.ray.dispatcher RUNS_FOLDER ADDRESS

It lives apart from the server, since Ray ends every process of a cluster that goes away. What is asked of a
run stands in its folder, as on this machine; this process looks there, too.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from models.runs.ray import cluster
from models.runs.ray.backend import LOCK, TICKETS
from models.runs.ray.dispatching import RESUME, Dispatcher
from models.runs.status import read_status, write_status
from models.zoo.run_folders import runs_url

ROOT = Path(__file__).parents[3]


def _connected(found: str) -> Any:
    """Ray, connected to the cluster; its workers find the same code and the same folder of runs."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
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


def _refuse(root: Path, tickets: Path, reason: str) -> None:
    """Ends the runs that wait, since the cluster cannot be reached."""
    for path in tickets.glob("*.json"):
        folder = root / path.stem.partition("-")[2]
        now = read_status(folder)
        if now.live:
            said = f"no connection to the cluster ({reason.splitlines()[0][:300]}); {RESUME}"
            write_status(folder, replace(now, state="failed", sentence=said))
        path.unlink(missing_ok=True)


def main(arguments: list[str] | None = None) -> int:
    """Serves until idle; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m models.runs.ray.dispatcher")
    parser.add_argument("root", type=Path)
    parser.add_argument("address")
    options = parser.parse_args(arguments)
    office = cluster.office(options.root, options.address)
    if not runs_url():
        os.environ["ATTENTION_LAB_RUNS"] = str(options.root)
    lock, ray = FileLock(office / LOCK, timeout=1.0), None
    while any((office / TICKETS).glob("*.json")):  # those that came after the last look, too
        try:
            with lock:
                try:
                    ray = ray or _connected(options.address)
                except Exception as error:  # whatever Ray raises: the runs that wait must hear of it
                    _refuse(options.root, office / TICKETS, f"{type(error).__name__}: {error}")
                    raise
                dispatcher = Dispatcher(options.root, options.address, ray)
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
