"""What a run was and what it reached, as plain values: the settings, the seed, the last held-out scores.

It is read without torch, from config.json, task.json and metrics.jsonl.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from models.config import ModelConfig
from models.runs.folder import RunFolder
from models.runs.status import read_status
from models.training.config import TrainingConfig
from models.zoo.run_folders import TASK

LOSS = "loss"
_LARGEST = 1e30  # of a number that a file may state
_UPLOAD = re.compile(r"[0-9a-f]{64}\b.*")
_BOOKKEEPING = ("seed", "checkpoint_seconds", "threads", "n_snapshots")
"""Settings of a training that do not change its configuration: the seed, and what is kept of a run."""
_LOWER = ("loss", "error", "bits", "perplexity", "variance")
_NO_SHARES = (*_LOWER, "positions", "bleu", "chrf", "f1")


@dataclass(frozen=True, kw_only=True)
class Result:
    """One run. data: what it learnt from and was scored on, by name. settings: all that makes its
    configuration, by name, without the seed. step: that of the scores. scores: the last validation's, "loss"
    among them, the main score first. finished: whether it has done what it was to do.
    """

    id: str
    name: str
    task: str
    data: Mapping[str, Any]
    settings: Mapping[str, Any]
    seed: int
    step: int = 0
    steps: int = 0
    finished: bool = False
    scores: Mapping[str, float]

    @property
    def key(self) -> str:
        """The same text for all runs of one configuration, whatever their seeds."""
        return _text({"data": self.data, "settings": self.settings})

    @property
    def data_key(self) -> str:
        """The same text for all runs that learnt from the same data and were scored on the same."""
        return _text(self.data)


def result_of(
    folder: RunFolder,
    *,
    entries: Sequence[Mapping[str, Any]] | None = None,
    finished: bool | None = None,
    name: str = "",
    id: str = "",
) -> Result:
    """The result of a run's folder.

    entries: the records of its metrics, where they are at hand already; their last validation counts.
    finished: known of a shipped run, which has no status. name, id: where others than the folder's.
    Raises FileError for a folder that describes no run.
    """
    described = folder.description()
    task, model, training = (_dict(described.get(part)) for part in ("task", "model", "training"))
    step, scores = _last_scores(folder.metrics() if entries is None else entries)
    if finished is None:
        finished = read_status(folder.path).state == "finished"
    return Result(
        id=id or folder.id,
        name=name or str(described.get("name") or folder.id),
        task=str(task.get("name", "")),
        data=data_of(folder.path, task, training),
        settings=settings_of(described, model, training),
        seed=_whole(training.get("seed")),
        step=step,
        steps=_whole(training.get("steps")),
        finished=finished,
        scores=scores,
    )


def data_of(path: Path, task: Mapping[str, Any], training: Mapping[str, Any]) -> dict[str, Any]:
    """What decides on which examples a run is scored: the task with its options, what the task took from its
    data (the digest of task.json), and how many examples are held out.

    An uploaded file counts by its digest, wherever a server keeps it.
    """
    options = {name: _file(value) for name, value in _dict(task.get("options")).items()}
    learnt = _digest_of(path / TASK)
    held_out = training.get("held_out")
    return {"task": task.get("name", ""), **options, "what the data holds": learnt, "held_out": held_out}


def settings_of(
    described: Mapping[str, Any], model: Mapping[str, Any], training: Mapping[str, Any]
) -> dict[str, Any]:
    """What makes a configuration beside its data: the model, the training without what is no part of it, and
    what was changed when it was trained further.
    """
    training = _known(lambda: TrainingConfig.from_file(training).to_dict(), training)
    model = _known(lambda: ModelConfig.from_dict(dict(model)).to_dict(), model)
    kept = {name: value for name, value in training.items() if name not in _BOOKKEEPING}
    found = {**model, **kept}
    changes = history_of(described)
    return found | ({"trained further": "; ".join(map(changed_words, changes))} if changes else {})


def _known(read: Callable[[], dict[str, Any]], values: Mapping[str, Any]) -> Mapping[str, Any]:
    """A config with the fields that an older file lacks; as it stands where it is damaged."""
    try:
        return read()
    except (ValueError, TypeError):
        return values


def history_of(described: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The times a run was trained further with other settings, oldest first; [] for all other runs.

    Each has "step", "from" (a run's id), "changed" ({name: [before, after]}) and "schedule" ("goes on" or
    "anew"). What a damaged file has there is left out.
    """
    found = described.get("history")
    entries = found if isinstance(found, list) else []
    return [entry for entry in entries if isinstance(entry, dict) and type(entry.get("step")) is int]


def changed_words(entry: Mapping[str, Any]) -> str:
    """One entry of a history in words, without the run that it came from."""
    changed = _dict(entry.get("changed"))
    words = [f"{name} {_said(pair)}" for name, pair in changed.items()]
    schedule = "the schedule starts anew" if entry.get("schedule") == "anew" else "the schedule goes on"
    moments = ["the optimiser's moments are forgotten"] if entry.get("moments") == "forgotten" else []
    return f"from step {entry['step']:,}: {', '.join([*words, schedule, *moments])}"


def _said(pair: Any) -> str:
    if not isinstance(pair, list) or len(pair) != 2:
        return str(pair)
    return " → ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in pair)


def lower_is_better(score: str) -> bool:
    """Whether less of a score is better, as of losses, errors, bits and perplexity."""
    return any(word in score.lower() for word in _LOWER)


def is_share(score: str) -> bool:
    """Whether a score is a share of right answers. Errors and bits are not, whatever their size."""
    return not any(word in score.lower() for word in _NO_SHARES)


def bounds_of(score: str) -> tuple[float, float]:
    """What a score lies between: a share 0 and 1; losses, errors and bits are never below 0."""
    if is_share(score):
        return 0.0, 1.0
    return 0.0 if lower_is_better(score) else -math.inf, math.inf


def _last_scores(entries: Sequence[Mapping[str, Any]]) -> tuple[int, dict[str, float]]:
    """The step and the scores of the last validation, the main one first and "loss" last."""
    for entry in reversed(entries):
        found = entry.get("validation")
        if isinstance(found, dict) and found:
            numbers = {name: float(value) for name, value in found.items() if _is_number(value)}
            loss = {LOSS: numbers.pop(LOSS)} if LOSS in numbers else {}
            return _whole(entry.get("step")), {**numbers, **loss}
    return 0, {}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST < value < _LARGEST


def _file(value: Any) -> Any:
    """An option's value; of an uploaded file only its name, which is the digest of what it holds."""
    if isinstance(value, str) and _UPLOAD.fullmatch(Path(value).name[:100]):
        return Path(value).name
    return value


def _digest_of(path: Path) -> str:
    try:
        stamp = path.stat()
    except OSError:
        return ""
    return _digest(path, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=1024)
def _digest(path: Path, mtime: int, size: int) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError:
        return ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
