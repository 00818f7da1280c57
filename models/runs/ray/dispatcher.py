"""The dispatcher: a process that gives runs to a Ray cluster, watches them there, and ends when idle.

python -m attention_lab.models.runs.ray.dispatcher RUNS_FOLDER ADDRESS --keeper PID

It lives apart from the server, since Ray ends every process of a cluster that goes away. Requests to a run
stand in the run's folder, as on this machine. The keeper starts this process, starts it again where it was
killed, and says what became of the runs where the cluster went away.
"""

import argparse
import contextlib
import logging
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Timer
from typing import Any

from filelock import FileLock, Timeout

from ...files import IMPORT_ROOT
from ..folder import (
    CLUSTER,
    CUT_SHORT,
    LOCK,
    Cause,
    RunFolder,
    Status,
    ended_on_request,
    read_request,
    read_status,
    refusal_of,
    write_request,
    write_status,
)
from ..processes import Identity, leave
from ..worker import SERVER_GONE
from . import cluster, work
from .cluster import Ticket, any_in, tickets
from .keeper import RESUME

IDLE_SECONDS = 60.0
LOOK_SECONDS = 0.25
BEAT_SECONDS = 1.0
END_SECONDS = 4.5
"""A run that has not ended so long after a request is killed."""
GOES_ON = "goes on from the last checkpoint as soon as the cluster has room"
LEFT = "it left the queue before its turn; resume queues it again"
_FRESH_SECONDS = 5.0  # a worker's sign of life that is younger needs no help


@dataclass
class ClusterRun:
    """A run that was given to the cluster. parent: whose end pauses it. lost: whether it ever had a worker
    and lost it. Its ticket counts the tries after lost workers.
    """

    ticket: Ticket
    parent: Identity | None
    task: Any = None
    lost: bool = False
    asked_at: float | None = None
    parted: bool = False

    @property
    def run_id(self) -> str:
        return self.ticket.run_id

    @property
    def attempt(self) -> int:
        return self.ticket.attempt


class Dispatcher:
    """Gives tickets to Ray and beats for the runs that wait, until there are none for a while."""

    def __init__(self, root: Path, address: str, ray: Any, keeper: int) -> None:
        self.root, self.address, self.ray, self.keeper = root, address, ray, keeper
        self.ticket_folder = cluster.ticket_folder(root, address)
        self.jobs: list[ClusterRun] = []
        self.token = f"seen-{secrets.token_hex(8)}"
        self._beat = 0.0
        (root / ".ray" / self.token).touch()

    def serve(self) -> None:
        """Returns when nothing was to be done for `IDLE_SECONDS`. Without its keeper this process ends, and
        with it the workers that the cluster gave it; whoever looks at a run then starts both again.
        """
        idle_since = time.monotonic()
        while time.monotonic() - idle_since < IDLE_SECONDS:
            self._take_tickets()
            self._collect()
            for job in self.jobs:
                self._attend(job)
            if time.monotonic() - self._beat >= BEAT_SECONDS:
                self._beat = time.monotonic()
                if os.getppid() != self.keeper:
                    os._exit(1)
            if self.jobs:
                idle_since = time.monotonic()

    def _take_tickets(self) -> None:
        """Starts what is new; a run of a dispatcher that was killed goes on as if its worker was lost."""
        known = {job.ticket.path for job in self.jobs}
        for ticket in tickets(self.ticket_folder):
            if ticket.path in known:
                continue
            try:
                job = ClusterRun(ticket, Identity.parse(ticket.parent) if ticket.parent else None)
            except ValueError:
                ticket.drop()
                continue
            self.jobs.append(job)
            if ticket.attempt:
                self._lost(job, ConnectionError("the process that had given the run to it was ended"))
            else:
                ticket.attempt = read_status(self.root / ticket.run_id).attempt
                self._start(job)

    def _start(self, job: ClusterRun) -> None:
        """Hands a run to Ray, which starts it where the resources that it asks for are free."""
        try:
            training = RunFolder(self.root / job.run_id).config().training
            cpus, gpu = self._resources(training.threads or 1, training.device)
            job.ticket.write()
        except (ValueError, OSError) as error:
            self._end(job, refusal_of(read_status(self.root / job.run_id), str(error)))
            return
        assignment = work.Assignment(str(self.root), self.token, job.run_id, job.attempt, cpus)
        task = self.ray.remote(work.train).options(num_cpus=cpus, num_gpus=gpu, max_retries=0)
        job.task = task.remote(assignment)

    def _resources(self, cpus: int, device: str) -> tuple[int, int]:
        """The CPUs and GPUs of one process. Raises ValueError where no machine of the cluster has them."""
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        gpu = int(device in ("auto", "cuda") and any(node.get("GPU", 0) for node in nodes))
        if device == "cuda" and not gpu:
            raise ValueError("device='cuda', but no machine of the cluster has a GPU; choose 'auto' or 'cpu'")
        most = max((int(node.get("CPU", 0)) for node in nodes), default=0)
        if cpus > most:
            raise ValueError(
                f"threads={cpus}, but no machine of the cluster gives more than {most} CPUs; "
                f"try {max(1, most)}"
            )
        return cpus, gpu

    def _collect(self) -> None:
        """Waits a little for runs to end, and sees to those that did."""
        tasks = {job.task: job for job in self.jobs if job.task is not None}
        if not tasks:
            time.sleep(LOOK_SECONDS)
            return
        for task in self.ray.wait(list(tasks), num_returns=1, timeout=LOOK_SECONDS)[0]:
            job = tasks[task]
            try:
                reason = self.ray.get(task)
            except self.ray.exceptions.RayError as error:
                self._lost(job, error)
                continue
            now = read_status(self.root / job.run_id)
            self._end(job, refusal_of(now, reason) if reason else None)

    def _lost(self, job: ClusterRun, error: Exception) -> None:
        """Lets a run whose worker went away go on elsewhere, a few times; one that had ended stays so."""
        now, request = read_status(self.root / job.run_id), read_request(self.root / job.run_id)
        if not (self.root / job.run_id).is_dir() or not _belongs(now, job):
            self._end(job, None)
        elif request or now.asked:
            sentence = LEFT if now.node == CLUSTER else CUT_SHORT
            self._end(job, ended_on_request(now, request or now.asked, sentence))
        elif job.ticket.tries == work.RETRIES or isinstance(error, self.ray.exceptions.RayTaskError):
            reason = str(error).strip().splitlines()[-1][:300]
            tries = f"after {job.ticket.tries + 1} tries" if job.ticket.tries else "at once"
            sentence = f"the cluster gave it up {tries}, at step {now.step:,} ({reason}); {RESUME}"
            self._end(job, replace(now, state="failed", sentence=sentence))
        else:
            job.ticket.tries += 1
            job.ticket.attempt += 1  # a worker that was only cut off sees that the run is another's
            write_status(self.root / job.run_id, self._waits(job, now))
            self._start(job)

    def _end(self, job: ClusterRun, status: Status | None) -> None:
        """Writes a run's last status, where it has not done so itself, and forgets the run."""
        self.jobs = [each for each in self.jobs if each is not job]
        folder = self.root / job.run_id
        with contextlib.suppress(OSError):
            now = read_status(folder)
            if status is not None and now.attempt <= job.attempt:
                last = replace(now, state=status.state, sentence=status.sentence, cause=status.cause)
                write_status(folder, replace(last, resumed=status.resumed, asked="", attempt=job.attempt))
            elif job.parted and now.state == "paused":
                write_status(folder, replace(now, sentence=SERVER_GONE, cause=Cause.SERVER))
        job.ticket.drop()

    def _attend(self, job: ClusterRun) -> None:
        """Beats for a run that no worker has, and kills one that does not end when asked."""
        folder = self.root / job.run_id
        if job.parent is not None and not job.parent.alive and not job.parted:
            job.parted = True
            with contextlib.suppress(OSError):
                write_request(folder, "pause")
        request = read_request(folder)
        if request is None:
            job.asked_at = None
        elif job.asked_at is None:
            job.asked_at = time.monotonic()
        elif time.monotonic() - job.asked_at > END_SECONDS and job.task is not None:
            self.ray.cancel(job.task, force=True)
            job.asked_at = time.monotonic()
        if self._beat + BEAT_SECONDS < time.monotonic() or request:
            self._speak_for(job, bool(request))

    def _speak_for(self, job: ClusterRun, ends: bool) -> None:
        """Writes the sign of life of a run that waits: only while no worker has its lock."""
        folder = self.root / job.run_id
        with contextlib.suppress(Timeout, OSError), FileLock(folder / LOCK, timeout=0):
            now = read_status(folder)
            trains = now.node != CLUSTER and time.time() - now.heartbeat < _FRESH_SECONDS
            if trains or not _belongs(now, job):
                return
            if ends and job.task is not None:
                self.ray.cancel(job.task, force=True)
                return
            write_status(self.root / job.run_id, self._waits(job, now))

    def _waits(self, job: ClusterRun, now: Status) -> Status:
        """The status of a run that no worker has, yet or again."""
        sentence = now.sentence
        if not job.lost:
            room, everything = self.ray.available_resources(), self.ray.cluster_resources()
            kinds = [kind for kind in ("CPU", "GPU") if everything.get(kind)]
            free = ", ".join(f"{room.get(kind, 0):g} of {everything[kind]:g} {kind}s free" for kind in kinds)
            sentence = f"waits until the cluster at {self.address} has room for it ({free})"
        if now.node != CLUSTER:
            job.lost = True
            n = job.ticket.tries
            tries = f" (try {n + 1} of {work.RETRIES + 1})" if n else ""
            sentence = f"its worker on {now.node} was lost at step {now.step:,}; another{tries} {GOES_ON}"
        return replace(
            now, state="queued", sentence=sentence, node=CLUSTER, attempt=job.attempt,
            heartbeat=time.time(), up=0.0, pid=None, started_at=None, born="",
        )  # fmt: skip


def _belongs(now: Status, job: ClusterRun) -> bool:
    """Whether the run is live and nobody else's by now."""
    return now.live and now.attempt <= job.attempt


# The process

DISPATCHER_LOCK = "dispatcher.lock"
CONNECT_SECONDS = 45.0
"""What does not talk as Ray does for so long is no cluster; a run waits longer for its first sign of life."""
NAMED = "give the address that `ray start` printed; " + RESUME
_RAY_SECONDS = 10  # after which Ray gives up its search for a machine of the cluster by that address


def _connect(address: str) -> Any:
    """Ray, connected to the cluster; its workers find the same code and the same folder of runs."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_gcs_server_request_timeout_seconds", str(_RAY_SECONDS))
    if cluster.is_here(address):
        # Else Ray reads a loopback address as that of the network card, where a cluster of this machine alone
        # does not listen. The variable means any system, whatever its name says.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    import ray

    passed_on = ("ATTENTION_LAB_RUNS", "ATTENTION_LAB_LIMITS")
    variables = {name: value for name, value in os.environ.items() if name.startswith(passed_on)}
    here: dict[str, Any] = {"_node_ip_address": "127.0.0.1"} if cluster.is_here(address) else {}
    ray.init(
        address=address,
        namespace="attention-lab",
        log_to_driver=False,
        logging_level=logging.WARNING,
        runtime_env={"env_vars": {**variables, "PYTHONPATH": str(IMPORT_ROOT)}},
        **here,
    )
    return ray


def _refuse(root: Path, ticket_folder: Path, reason: str) -> None:
    """Ends the runs that wait, since the cluster cannot be reached."""
    for ticket in tickets(ticket_folder):
        folder = root / ticket.run_id
        now = read_status(folder)
        if now.live:
            sentence = f"no connection to the cluster ({reason.splitlines()[0][:300]}); {NAMED}"
            write_status(folder, refusal_of(now, sentence, Cause.CLUSTER))
        ticket.drop()


@contextmanager
def _within(seconds: float, root: Path, ticket_folder: Path, address: str) -> Iterator[None]:
    """Ray waits for ever for what listens and is no Ray; this process says so after a while, and ends."""

    def give_up() -> None:
        _refuse(
            root,
            ticket_folder,
            f"what listens at {address} gave no answer of Ray's within {seconds:.0f} seconds",
        )
        os._exit(1)

    timer = Timer(seconds, give_up)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def main(arguments: list[str] | None = None) -> int:
    """Serves until idle; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m attention_lab.models.runs.ray.dispatcher")
    parser.add_argument("root", type=Path)
    parser.add_argument("address")
    parser.add_argument("--keeper", type=int, required=True, help="the process whose end ends this one")
    options = parser.parse_args(arguments)
    ticket_folder = cluster.ticket_folder(options.root, options.address)
    os.environ["ATTENTION_LAB_RUNS"] = str(options.root)
    lock, ray = FileLock(ticket_folder / DISPATCHER_LOCK, timeout=work.LAST_ONE_SECONDS), None
    while any_in(ticket_folder):  # those that came after the last look, too
        try:
            with lock:
                try:
                    with _within(CONNECT_SECONDS, options.root, ticket_folder, options.address):
                        ray = ray or _connect(options.address)
                except Exception as error:  # whatever Ray raises: the runs that wait must hear of it
                    cause = error.__cause__ or error  # Ray says why in the first of its errors
                    _refuse(options.root, ticket_folder, f"{type(cause).__name__}: {cause}")
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
    leave(main())
