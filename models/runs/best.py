"""The best weights of a run so far, by its main held-out score; kept beside the last checkpoint.

It is read without torch. The weights of a better validation wait in a file of their own until a checkpoint
covers their step: so the best is always one of the validations that the run's records still tell of.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.files import FileError, check_version, write_whole, writing
from models.runs.results import LOSS, history_of, lower_is_better
from models.training.config import TrainingConfig
from models.zoo.run_folders import BEST
from models.zoo.run_folders import NEXT_BEST as NEXT

if TYPE_CHECKING:
    from torch import Tensor

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
        found = of_validation(step, validation)
        if found is None:
            return False
        if found.beats(self._to_beat, self._min_delta):
            self._to_beat, self.waited = found, 0
        elif step > self._counts_from:
            self.waited += 1
        if not found.beats(self.best):
            return False
        self.best = found
        return True


def of_validation(step: int, validation: Mapping[str, Any]) -> Best | None:
    """The main score of a validation, which is its first, else the loss; None where that is no number."""
    score = next((name for name in validation if name != LOSS), LOSS)
    value, loss = validation.get(score), validation.get(LOSS, 0.0)
    if not all(isinstance(each, int | float) and each == each for each in (value, loss)):
        return None
    return Best(step, score, float(value), float(loss))  # type: ignore[arg-type]


def tracked(
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


def keep(folder: Path, best: Best, weights: Mapping[str, Tensor]) -> None:
    """Writes the weights of a better validation, which wait for a checkpoint. Raises WriteError."""
    from safetensors.torch import save

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    said = {"version": VERSION, "step": best.step, "score": best.score, "value": repr(best.value)}
    said["loss"] = repr(best.loss)
    write_whole(folder / NEXT, save(tensors, {name: str(value) for name, value in said.items()}))


def secure(folder: Path) -> None:
    """Makes the waiting weights survive a power cut, before the checkpoint that covers them is written."""
    if (folder / NEXT).is_file():
        with writing(folder / NEXT), (folder / NEXT).open("rb+") as file:
            os.fsync(file.fileno())


def settle(folder: Path, best: Best | None) -> None:
    """Lets the file of the best hold what the records up to the last checkpoint say is the best.

    Waiting weights of that step take their place; those of other steps were cut away, and are removed.
    Raises WriteError.
    """
    wanted = best.step if best else -1
    with writing(folder / BEST):
        if _step_of(folder / NEXT) == wanted:
            (folder / NEXT).replace(folder / BEST)
        (folder / NEXT).unlink(missing_ok=True)
        if (folder / BEST).is_file() and _step_of(folder / BEST) != wanted:
            (folder / BEST).unlink()


def read_best(folder: Path) -> Best | None:
    """What the file of a run's best weights states; None where there is none.

    Raises FileError for a file that is damaged, foreign or of a newer version.
    """
    path = folder / BEST
    return _stated(path) if path.is_file() else None


def _stated(path: Path) -> Best:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            said = file.metadata() or {}
        check_version(path, int(said["version"]), VERSION)
        return Best(int(said["step"]), said["score"][:100], float(said["value"]), float(said["loss"]))
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            f"{str(path)!r} is no whole file of weights (damaged, cut short, or another format, never read); "
            "choose the last step"
        ) from None


def _step_of(path: Path) -> int | None:
    """The step of a file of weights; None for none, and for one that is damaged."""
    try:
        return _stated(path).step
    except FileError:
        return None
