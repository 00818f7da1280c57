"""What a run keeps by step, numbered files of tensors and lines of JSON, and what is cut when it resumes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.files import FileError, read_lines, write_whole

if TYPE_CHECKING:
    from torch import Tensor


def numbered(step: int) -> str:
    """The name of the file of one step."""
    return f"{step:08d}.safetensors"


def cut_lines(path: Path, last_step: int) -> None:
    """Removes the lines of later steps, and a line that a kill left half-written."""
    if path.is_file():
        kept = [line for line in read_lines(path) if 0 <= step_of(line) <= last_step]
        write_whole(path, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in kept).encode())


def cut_files(folder: Path, last_step: int) -> None:
    """Removes the numbered files of later steps."""
    for step, path in numbered_files(folder).items():
        if step > last_step:
            path.unlink(missing_ok=True)


def numbered_files(folder: Path) -> dict[int, Path]:
    """The files of a folder that belong to a step, by step."""
    if not folder.is_dir():
        return {}
    return {
        int(path.stem): path
        for path in folder.iterdir()
        if path.suffix == ".safetensors" and re.fullmatch(r"\d{8,20}", path.stem) and not path.is_symlink()
    }


def tensors_of(path: Path) -> dict[str, Tensor]:
    """A file's tensors by name. Raises FileError for one that is gone or damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        return load(path.read_bytes())
    except FileNotFoundError:
        raise FileError(f"{str(path)!r} is not there; choose a step that was kept") from None
    except (OSError, SafetensorError, ValueError, KeyError, TypeError):
        raise FileError(f"{str(path)!r} is damaged; delete it, or restore it") from None


def step_of(line: dict[str, Any]) -> int:
    """The step of a line; -1 where it states none."""
    step = line.get("step")
    return step if isinstance(step, int) and not isinstance(step, bool) else -1
