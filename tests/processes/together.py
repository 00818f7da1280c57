"""One process of a group of two that trains runs together, without Ray.

together.py RANK PORT FOLDER...: trains each folder's run, half of it by a training that goes on from the
checkpoint of another, and prints the last validation's loss.
"""

import os
import sys
from datetime import timedelta
from itertools import islice
from pathlib import Path

import torch.distributed as dist

from attention_lab.models.runs.checkpoints import Checkpoint, write_checkpoint
from attention_lab.models.runs.folder import RunFolder
from attention_lab.models.training.together import TogetherTraining


def train(folder: RunFolder, steps: int) -> None:
    """Goes on from the folder's checkpoint, if there is one, by so many steps, and writes the next."""
    training, checkpoint = TogetherTraining(folder.config()), folder.checkpoint()
    if checkpoint:
        training.load_state(checkpoint.tensors, checkpoint.values)
    *_, last = islice(training, steps)
    if training.step == folder.config().training.steps and last.validation:
        print(folder.id, training.rank, last.validation["loss"])
    state = Checkpoint(training.step, *training.state())
    if training.rank == 0:
        write_checkpoint(folder.path / "checkpoint.safetensors", state)
    assert training.agreed(training.rank == 0, training.rank == 1) == [True, False]


def main(rank: int, port: str, folders: list[Path]) -> None:
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    address = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("gloo", address, timedelta(seconds=120), rank=rank, world_size=2)
    for folder in map(RunFolder, folders):
        half = folder.config().training.steps // 2
        train(folder, half)
        train(folder, half)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], [Path(path) for path in sys.argv[3:]])
