"""The results of a run: its settings and last scores, its best validation, and how it ended.

It is read without torch. The weights of a better validation wait in a file of their own until a checkpoint
covers their step: so the best is always one of the validations that the run's records still tell of.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from ..config import ModelConfig
from ..files import FileError, check_version, only_file, write_whole, writing
from ..training.config import TrainingConfig
from ..training.growth import Growth, growth, remedy
from ..zoo.folders import BEST, TASK
from ..zoo.folders import NEXT_BEST as NEXT
from .folder import Cause, RunFolder, Status, is_watched, read_status

if TYPE_CHECKING:
    from torch import Tensor

# Settings and scores

LOSS = "loss"
_LARGEST = 1e30  # of a number that a file may state
_UPLOAD = re.compile(r"[0-9a-f]{64}\b.*")
_BOOKKEEPING = ("seed", "checkpoint_seconds", "threads", "n_snapshots")
"""Settings of a training that do not change its configuration: the seed, and what is kept of a run."""
_LOWER = ("loss", "error", "bits", "perplexity", "variance", "positions")
_NO_SHARES = (*_LOWER, "bleu", "chrf", "f1")


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
    if not is_watched(described):  # whose other settings its own program alone knows
        training = _with_defaults(lambda: TrainingConfig.from_file(training).to_dict(), training)
        model = _with_defaults(lambda: ModelConfig.from_dict(dict(model)).to_dict(), model)
    counted = {name: value for name, value in training.items() if name not in _BOOKKEEPING}
    settings = {**model, **counted}
    changes = history_of(described)
    return settings | ({"trained further": "; ".join(map(changed_words, changes))} if changes else {})


def _with_defaults(read: Callable[[], dict[str, Any]], values: Mapping[str, Any]) -> Mapping[str, Any]:
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
    entries_there = described.get("history")
    entries = entries_there if isinstance(entries_there, list) else []
    return [entry for entry in entries if isinstance(entry, dict) and type(entry.get("step")) is int]


def changed_words(entry: Mapping[str, Any]) -> str:
    """One entry of a history in words, without the run that it came from."""
    changed = _dict(entry.get("changed"))
    words = [f"{name} {_change_words(pair)}" for name, pair in changed.items()]
    schedule = "the schedule starts anew" if entry.get("schedule") == "anew" else "the schedule goes on"
    moments = ["the optimiser's moments are forgotten"] if entry.get("moments") == "forgotten" else []
    return f"from step {entry['step']:,}: {', '.join([*words, schedule, *moments])}"


def _change_words(pair: Any) -> str:
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
        validation = entry.get("validation")
        if isinstance(validation, dict) and validation:
            numbers = {name: float(value) for name, value in validation.items() if _is_number(value)}
            loss = {LOSS: numbers.pop(LOSS)} if LOSS in numbers else {}
            return _whole(entry.get("step")), {**numbers, **loss}
    return 0, {}


def _is_number(value: object, below: float = _LARGEST) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and -below < value < below


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
        with only_file(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError:
        return ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


# The best validation

VERSION = 1


@dataclass(frozen=True)
class Best:
    """A validation: its step, the main score by name and value, and the held-out loss."""

    step: int
    score: str
    value: float
    loss: float

    def beats(self, other: Best | None, by: float = 0.0) -> bool:
        """Whether the score is better by more than `by`; or the same, and the loss lower by more.

        A score such as the share of whole sentences stays at 0 for long while the loss falls.
        """
        if other is None or self.score != other.score:
            return True
        gain = self.value - other.value
        gain = -gain if lower_is_better(self.score) else gain
        return gain > by or (gain == 0 and other.loss - self.loss > by)


class Tracker:
    """The best of a run's validations, and how many came since one was better.

    min_delta: what a score must gain to count as better for `waited`. counts_from: only later steps count as
    waiting.
    """

    def __init__(self, min_delta: float = 0.0, counts_from: int = 0) -> None:
        self.best: Best | None = None
        self.waited = 0
        self._to_beat: Best | None = None
        self._min_delta, self._counts_from = min_delta, counts_from

    def take(self, step: int, validation: Mapping[str, Any]) -> bool:
        """Takes a validation in; whether it is the best so far."""
        name = next((name for name in validation if name != LOSS), LOSS)  # the first is the main one
        value, loss = validation.get(name), validation.get(LOSS, 0.0)
        if not all(isinstance(each, int | float) and each == each for each in (value, loss)):
            return False
        score = Best(step, name, float(value), float(loss))  # type: ignore[arg-type]
        if score.beats(self._to_beat, self._min_delta):
            self._to_beat, self.waited = score, 0
        elif step > self._counts_from:
            self.waited += 1
        if not score.beats(self.best):
            return False
        self.best = score
        return True


def tracker_of(
    entries: Iterable[Mapping[str, Any]], training: Mapping[str, Any], described: Mapping[str, Any]
) -> Tracker:
    """What a run's records say, from config.json's `training` and the whole of it, `described`.

    Where a run was trained further, waiting counts anew, and so does the best where its data are others.
    """
    history = history_of(described)
    own = {spec.name for spec in fields(TrainingConfig)} - {"held_out"} | {"dropout"}
    other_data = [entry["step"] for entry in history if set(entry.get("changed") or ()) - own]
    since = max(other_data, default=0)
    delta = training.get("min_delta", 0.0)
    tracker = Tracker(float(delta), max((entry["step"] for entry in history), default=0))
    for entry in entries:
        validation = entry.get("validation")
        if isinstance(validation, dict) and entry["step"] > since:
            tracker.take(entry["step"], validation)
    return tracker


def write_best(folder: Path, best: Best, weights: Mapping[str, Tensor]) -> None:
    """Writes the weights of a better validation, which wait for a checkpoint. Raises WriteError."""
    from safetensors.torch import save

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    metadata = {"version": VERSION, "step": best.step, "score": best.score, "value": repr(best.value)}
    metadata["loss"] = repr(best.loss)
    write_whole(folder / NEXT, save(tensors, {name: str(value) for name, value in metadata.items()}))


def sync_best(folder: Path) -> None:
    """Makes the waiting weights survive a power cut, before the checkpoint that covers them is written."""
    if (folder / NEXT).is_file():
        with writing(folder / NEXT), (folder / NEXT).open("rb+") as file:
            os.fsync(file.fileno())


def settle_best(folder: Path, best: Best | None) -> None:
    """Lets the file of the best hold what the records up to the last checkpoint say is the best.

    Waiting weights of that step take their place; those of other steps were cut away, and are removed.
    Raises WriteError.
    """
    best_step = best.step if best else -1
    with writing(folder / BEST):
        if _step_of(folder / NEXT) == best_step:
            (folder / NEXT).replace(folder / BEST)
        (folder / NEXT).unlink(missing_ok=True)
        if (folder / BEST).is_file() and _step_of(folder / BEST) != best_step:
            (folder / BEST).unlink()


def read_best(folder: Path) -> Best | None:
    """What the file of a run's best weights states; None where there is none.

    Raises FileError for a file that is damaged, foreign or of a newer version.
    """
    path = folder / BEST
    return _best_in_file(path) if path.is_file() else None


def _best_in_file(path: Path) -> Best:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
        check_version(path, int(metadata["version"]), VERSION)
        return Best(
            int(metadata["step"]), metadata["score"][:100], float(metadata["value"]), float(metadata["loss"])
        )
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{str(path)!r} is no whole file of weights; choose the last step") from None


def _step_of(path: Path) -> int | None:
    """The step of a file of weights; None for none, and for one that is damaged."""
    try:
        return _best_in_file(path).step
    except FileError:
        return None


# How a run ended

Entries = Sequence[Mapping[str, Any]]


def outcome_of(folder: RunFolder, step: int, usual: float | None = None) -> tuple[str, Cause]:
    """One sentence on a run that has finished at `step`, or "" where there is nothing to say; and its cause.

    usual: the learning rate that the task comes with. Raises FileError for a damaged folder.
    """
    described, entries = folder.description(), folder.metrics()
    early, training = "", described["training"]
    patience, steps = training.get("patience", 0), training.get("steps", 0)
    tracker = tracker_of(entries, training, described)
    best = tracker.best
    if best is not None and 0 < patience <= tracker.waited and step < steps:
        early = (
            f"stopped early at step {step:,} of {steps:,}: {best.score} has not improved in {tracker.waited} "
            f"validations; the best is step {best.step:,} with {best.score} {best.value:.4g}"
        )
    elif training.get("minutes") and step < steps:
        early = f"ended after its {training['minutes']:g} minutes, at step {step:,} of {steps:,}"
    grew = growing(described, entries, usual)
    return "; ".join(filter(None, [early, grew])), Cause.GREW if grew else Cause.NONE


def growing(described: Mapping[str, Any], entries: Entries, usual: float | None = None) -> str:
    """That the training loss grew, and what to try; "" where it did not."""
    growth_seen = grown(entries)
    if growth_seen is None:
        return ""
    training = {**TrainingConfig().to_dict(), **described["training"]}
    rate, clip = float(training["learning_rate"]), float(training["clip"])
    return f"{growth_seen.sentence}: {remedy(rate, usual or TrainingConfig.learning_rate, clip)}"


def grown(entries: Entries) -> Growth | None:
    """How the training loss grew; None where it did not."""
    known = [(entry["step"], loss) for entry in entries if _is_number(loss := entry.get("loss"), math.inf)]
    return growth([step for step, _ in known], [loss for _, loss in known])


def short_outcome(status: Status) -> str:
    """How a finished run came out in a few words, for a table; "" where there is nothing to say."""
    early = status.state == "finished" and status.step < status.steps
    words = ("early" if early else "", "loss grew" if status.cause == Cause.GREW else "")
    return ", ".join(filter(None, words))
