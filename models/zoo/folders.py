"""Finds models on disk: shipped ones by their cards, training runs by their folders.

All of it is read without torch, so that a page can name what it will show while torch is still being
imported.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..files import OWN, FileError, read_json

# Model cards: the description of a model beside its weights.

CARD = "card.json"
LEARNT = "learnt.json"
"""In a family's folder: what all its members learnt, such as their words, where their cards do not say it."""
PACKED = ".xz"
"""The end of the name of weights that are packed."""
SHIPPED = Path(__file__).parent


@dataclass(frozen=True)
class ModelCard:
    """A shipped model; `showcase`: the stack, layer and head worth opening first; `examples`: what to try."""

    name: str
    path: Path
    card: dict[str, Any]

    @property
    def task(self) -> str:
        """The name of the task that it was trained on."""
        return self.card["task"]["name"]

    @property
    def showcase(self) -> dict[str, Any]:
        return self.card.get("showcase", {})

    @property
    def examples(self) -> list[dict[str, str]]:
        return self.card.get("examples", [])


def list_models() -> list[ModelCard]:
    """The cards of all shipped models, by name."""
    return [ModelCard(name, SHIPPED / name, read_card(SHIPPED / name / CARD)) for name in shipped_names()]


def shipped_names() -> list[str]:
    """The names of all shipped models, without reading their cards."""
    return sorted(path.parent.name for path in SHIPPED.glob(f"*/{CARD}"))


def read_card(path: Path) -> dict[str, Any]:
    """A card, checked as far as every model needs it. Raises FileError."""
    card, shared = read_json(path), path.parent.parent / LEARNT
    if "learnt" not in card and shared.is_file():
        card["learnt"] = read_json(shared)
    missing = [field for field in ("config", "task", "learnt") if field not in card]
    if missing:
        raise FileError(f"{str(path)!r} lacks {' and '.join(missing)}; restore it")
    return card


# Where the folders of training runs are, and the part of a folder that loading its model needs.
# `models.runs` writes these folders and reads the rest of them.

VERSION = 1
CONFIG, TASK, CHECKPOINT = "config.json", "task.json", "checkpoint.safetensors"
PROBE = "probe.json"
BEST = "best.safetensors"
"""The weights of the best validation so far, by their names in the model."""
NEXT_BEST = "best.next.safetensors"
"""The weights of a better validation than that, until a checkpoint covers their step."""
Which = Literal["last", "best"]
"""Whose weights of a run: those of its last checkpoint, or those of its best validation."""
RUN_ID = "[a-z0-9][a-z0-9-]{0,99}"
"""The pattern of every run's id, which is the name of its folder."""


def runs_root() -> Path:
    """Where runs live: the environment's ATTENTION_LAB_RUNS, else `runs/` in the project."""
    path = os.environ.get("ATTENTION_LAB_RUNS")
    return Path(path).expanduser() if path else OWN / "runs"


def check_runs_root() -> None:
    """Raises FileError where the runs' folder is no folder but a file or a URL."""
    root, setting = runs_root(), os.environ.get("ATTENTION_LAB_RUNS", "")
    if "://" in setting:
        raise FileError(
            f"ATTENTION_LAB_RUNS={setting[:200]!r} is a URL, but runs need a folder; mount the store (rclone "
            "mount, s3fs, gcsfuse) at one path on all machines, and name it"
        )
    if root.is_file():
        remedy = (
            "let ATTENTION_LAB_RUNS name a folder, or unset it"
            if setting
            else "move it away, or let ATTENTION_LAB_RUNS name a folder"
        )
        raise FileError(f"{str(root)!r} is a file, but runs need a folder; {remedy}")


def uploads_root() -> Path:
    """Where the files that visitors hand in are kept, a folder for each visitor; runs read them there."""
    return runs_root() / "uploads"


def run_path(run_id: str) -> Path:
    """The folder of a run, directly in `runs_root()`. The id may come from anybody.

    Raises FileError for an invalid id, an id without a folder, or a folder that is a link or holds one.
    """
    path = runs_root() / run_id if re.fullmatch(RUN_ID, run_id) else None
    if path is None or not path.is_dir() or path.is_symlink():
        raise FileError(f"there is no run {run_id[:100]!r}: it was deleted, or its link is wrong")
    links = [entry.name for entry in os.scandir(path) if entry.is_symlink()]
    if links:
        raise FileError(f"run {run_id!r} holds a link, {links[0]!r}, which no run does; remove it")
    return path


def weights_path(folder: Path, which: Which = "last") -> Path:
    """The file with a run's weights. Raises FileError where there is none yet."""
    path = folder / (CHECKPOINT if which == "last" else BEST)
    if path.is_file():
        return path
    if which == "best":
        raise FileError(f"run {folder.name!r} keeps no best weights; choose the last step")
    raise FileError(f"run {folder.name!r} has no checkpoint yet; wait for the first, or train it")


def read_description(folder: Path) -> dict[str, Any]:
    """config.json: version, name, created, task, model, training.

    Raises FileError where it describes no run.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise FileError(f"{str(folder)!r} holds no run: {CONFIG} is missing; choose another folder")
    description = read_json(path, newest=VERSION)
    missing = [name for name in ("task", "model") if name not in description]
    if missing:
        raise FileError(f"{str(path)!r} lacks {' and '.join(missing)}; restore it")
    return description
