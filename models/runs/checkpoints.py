"""A run at one step in one safetensors file: weights, optimiser, random states, and where its data stands."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ..files import FileError, check_version, only_file, write_whole

VERSION = 1


@dataclass(frozen=True)
class Checkpoint:
    """`tensors` have names that begin with "model.", "optimizer." or "random."; `values` are plain JSON."""

    step: int
    tensors: dict[str, Tensor]
    values: dict[str, Any]


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Replaces the file as a whole; it survives a power cut.

    Raises WriteError where the disk refuses; the old checkpoint then stands.
    """
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in checkpoint.tensors.items()}
    values = json.dumps(checkpoint.values)
    metadata = {"version": str(VERSION), "step": str(checkpoint.step), "values": values}
    write_whole(path, save(tensors, metadata), sync=True)


def read_checkpoint(path: Path) -> Checkpoint | None:
    """The checkpoint of a run; None where there is none yet.

    Raises FileError for a file that is damaged, foreign or of a newer version.
    """
    if not path.is_file():
        return None
    with _opened(path) as (file, step, values):
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dict)
    return Checkpoint(step, tensors, values)


def read_step(path: Path) -> int:
    """The step of a checkpoint, without its tensors. Raises FileError as `read_checkpoint` does."""
    with _opened(path) as (_, step, _):
        return step


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, int, dict[str, Any]]]:
    """The file, and the step and the values that its header states."""
    try:
        with safe_open(only_file(path), framework="pt") as file:
            metadata = file.metadata() or {}
            check_version(path, int(metadata["version"]), VERSION)
            values = json.loads(metadata["values"])
            if not isinstance(values, dict):
                raise ValueError("values are a JSON object")
            yield file, int(metadata["step"]), values
    except FileError:
        raise
    except (SafetensorError, OSError, ValueError, KeyError, TypeError):
        raise FileError(f"{str(path)!r} is no whole checkpoint; restore it, or start the run again") from None
