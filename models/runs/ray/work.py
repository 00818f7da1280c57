"""What a node of the cluster does with a run: the same as a process of this machine, in the same folder."""

import socket
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from ...training import PeerLost
from ..folder import LOCK, LOG, RunFolder, ended_by, read_request, read_status
from ..owners import ownership_of
from ..worker import Watch

LAST_ONE_SECONDS = 10.0
"""To wait for a process that had the run before and has not seen yet that it is another's."""
RETRIES = 3
"""So often a run whose worker or machine was lost goes on elsewhere from its last checkpoint."""
PORT_SECONDS = 1_800  # for a process to wait for the others, while the first validates


class Assignment(NamedTuple):
    """What a node is told of a run. root: the folder of the runs. token: the name of a file that the
    dispatcher wrote there: a node that does not see it has another folder. attempt: of the dispatcher; cpus:
    threads where the run's config asks for none.
    """

    root: str
    token: str
    run_id: str
    attempt: int
    cpus: int

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return Path(self.root) / self.run_id


def train(assignment: Assignment) -> str:
    """Trains a run in this process of a node; returns a sentence where it could not, else ""."""
    unseen = not_seen(assignment)
    if unseen:
        return unseen
    folder = assignment.folder
    if not folder.is_dir():
        return ""  # deleted meanwhile
    try:
        with (
            FileLock(folder / LOCK, timeout=LAST_ONE_SECONDS),
            (folder / LOG).open("a") as log,
            redirect_stderr(log),
        ):
            _work(folder, assignment)
    except Timeout:
        return "another process trains this run still; stop it, then resume"
    return ""


def _work(folder: Path, assignment: Assignment) -> None:
    from ..worker import work

    before = read_status(folder)
    if not before.live or before.attempt > assignment.attempt:
        return
    status = replace(before, node=_node(), attempt=assignment.attempt)
    watch = Watch(folder, status, minutes=ownership_of(folder).minutes)
    with watch:
        request = read_request(folder)
        if request:
            watch.finish(ended_by(request))
            return
        import torch

        # The process may have trained another run before, with other threads.
        torch.set_num_threads(RunFolder(folder).config().training.threads or assignment.cpus)
        work(watch)


def train_together(assignment: Assignment, workers: int, gpu: bool) -> str:
    """Trains a run by several workers of Ray Train, each on a node that has room; returns as `train` does.

    Where a worker is lost, Ray Train starts all anew, and they go on from the last checkpoint.
    """
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    unseen = not_seen(assignment)
    if unseen:
        return unseen
    resources = {"CPU": assignment.cpus, **({"GPU": 1} if gpu else {})}
    trainer = TorchTrainer(
        train_share,
        train_loop_config=assignment._asdict(),
        torch_config=TorchConfig(backend="cpu:gloo,cuda:nccl" if gpu else "gloo", timeout_s=PORT_SECONDS),
        scaling_config=ScalingConfig(num_workers=workers, use_gpu=gpu, resources_per_worker=resources),
        run_config=RunConfig(
            name=f"{assignment.run_id}-{assignment.attempt}",
            storage_path=f"{assignment.root}/.ray/train",
            failure_config=FailureConfig(max_failures=RETRIES),
        ),
    )
    trainer.fit()
    return ""


def train_share(values: dict[str, Any]) -> None:
    """What each worker of a group does: the first as `train`, the others beside it, without a word."""
    import torch.distributed as dist

    assignment = Assignment(**values)
    if dist.get_rank():
        _follow(assignment)
        return
    refused = train(assignment)
    dist.destroy_process_group()  # the others, who wait for the next step, see that there is none
    if refused:
        raise RuntimeError(refused)


def _follow(assignment: Assignment) -> None:
    """Trains beside the process of rank 0 until that one has ended."""
    import torch

    from ..recording import train_into

    refused = not_seen(assignment)
    if refused:
        raise RuntimeError(refused)
    folder = assignment.folder
    if not read_status(folder).live:
        return
    config = RunFolder(folder).config()
    torch.set_num_threads(config.training.threads or assignment.cpus)
    try:
        train_into(RunFolder(folder), config, resume=True)
    except (ValueError, ArithmeticError):
        return  # so does the first, which says it
    except PeerLost:
        if read_status(folder).live:
            raise  # the first was lost, not done


def not_seen(assignment: Assignment) -> str:
    """A sentence where this node does not see the folder of the runs; "" where it does."""
    if (Path(assignment.root) / ".ray" / assignment.token).is_file():
        return ""
    return (
        f"the folder of the runs, {assignment.root!r}, is not the same on {_node()}; put it where all "
        "machines of the cluster see it (ATTENTION_LAB_RUNS), at the same path"
    )


def _node() -> str:
    import ray

    return str(ray.util.get_node_ip_address() if ray.is_initialized() else socket.gethostname())
