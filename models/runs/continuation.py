"""A run that goes on from another's last checkpoint with other settings: what may change, and what is kept.

The weights stay, so nothing may change that gives them another shape or another meaning. What changed is in
the new run's config.json as "history".
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..training.config import RunConfig, TrainingConfig
from ..zoo.folders import BEST, CHECKPOINT, PROBE
from .folder import FILES, METRICS, PICTURES, SAMPLES, SNAPSHOTS, RunFolder, create_run, delete_on, files_of
from .results import history_of

if TYPE_CHECKING:
    from ..config import ModelConfig
    from ..data.tasks import Task

Schedule = Literal["goes on", "anew"]
Moments = Literal["kept", "forgotten"]
SCHEDULES, MOMENTS = get_args(Schedule), get_args(Moments)

FIXED = ("seed", "schedule_from")
"""Fields of the training that stay: the seed says which data were read already."""
MODEL = ("dropout",)
"""Fields of the model that its weights do not depend on."""
_KEPT = (CHECKPOINT, BEST, METRICS, SAMPLES, PROBE)


@dataclass(frozen=True, kw_only=True)
class Change:
    """Schedule a run goes on. steps: in all, those of the old run among them.

    training, model, options: fields of the training, the model and the task that change. schedule: "goes on"
    as if it had been so from the start, or "anew": warm-up and fall begin again at the checkpoint. moments:
    those of the optimiser, kept or forgotten.
    """

    steps: int
    training: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    schedule: Schedule = "goes on"
    moments: Moments = "kept"


def changed_config(run: RunFolder, config: RunConfig, change: Change, step: int) -> RunConfig:
    """The config of a run that goes on after `step` with this change.

    Raises ValueError where the change is none that a trained model can take.
    """
    for name in change.model:
        if name not in MODEL:
            raise ValueError(
                f"{name} belongs to the weights and cannot change now; start a new "
                f"run of {config.task.name} with --set {name}=…, or change {', '.join(MODEL)}"
            )
    for name in change.training:
        if name in FIXED:
            raise ValueError(f"{name} stays when a run is trained further; start a new run to change it")
    if "splits" in change.options:
        raise ValueError(
            "splits stays when a run is trained further: its held-out and test examples must stay unseen; "
            "start a new run"
        )
    if "steps" in change.training:
        raise ValueError("steps is how far the new run goes in all; give it once, as --steps")
    start = step if change.schedule == "anew" else config.training.schedule_from
    training = {**change.training, "steps": change.steps, "schedule_from": start}
    how = TrainingConfig.from_dict({**config.training.to_dict(), **training})
    model = replace(config.model, **change.model) if change.model else config.model
    task = _other_task(run, config.task, model, change.options) if change.options else config.task
    return RunConfig(task=task, model=model, training=how)


def history(run: RunFolder, before: RunConfig, after: RunConfig, change: Change, step: int) -> list[Any]:
    """The new run's "history": that of the old run, and what changed now."""
    changed = {
        **_differences(before.task.to_dict(), after.task.to_dict()),
        **_differences(before.model.to_dict(), after.model.to_dict()),
        **_differences(before.training.to_dict(), after.training.to_dict()),
    }
    changed.pop("schedule_from", None)  # "schedule" says it
    entry = {"step": step, "from": run.id, "changed": changed, "schedule": change.schedule}
    if change.moments == "forgotten":
        entry["moments"] = change.moments
    return [*history_of(run.description()), entry]


def make_further(run: RunFolder, config: RunConfig, change: Change, step: int, name: str = "") -> RunFolder:
    """Makes the new run's folder with all that the old one recorded, ready to be resumed."""
    from .checkpoints import write_checkpoint

    described = run.description()
    about = {part: described[part] for part in ("tags",) if part in described}
    if files := files_of(config.task, before=described):
        about[FILES] = files
    about["history"] = history(run, run.config(), config, change, step)
    first = re.sub(r" to [\d,]+ steps$", "", run.name)[:60]  # so that it stays short, however often
    further = create_run(config, name=name or f"{first} to {change.steps:,} steps", about=about)
    with delete_on(further, OSError, ValueError):
        for part in _KEPT:
            if (run.path / part).is_file():
                shutil.copyfile(run.path / part, further.path / part)
        for part in (SNAPSHOTS, PICTURES):
            if (run.path / part).is_dir():
                shutil.copytree(run.path / part, further.path / part)
        if change.moments == "forgotten":
            path, checkpoint = further.path / CHECKPOINT, further.checkpoint()
            assert checkpoint is not None  # it was copied
            tensors = checkpoint.tensors.items()
            # As at a run's start.
            kept = {at: each for at, each in tensors if not at.startswith("optimizer.")}
            write_checkpoint(path, replace(checkpoint, tensors=kept))
    return further


def kept_step(run: RunFolder) -> int:
    """The step of the run's last checkpoint, which may be before the last step that a killed run made.

    Raises ValueError where it has none.
    """
    from .checkpoints import read_step

    if not (path := run.path / CHECKPOINT).is_file():
        raise ValueError(f"run {run.name!r} has no checkpoint to go on from; resume it, or start a new run")
    return read_step(path)


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: [before.get(name), value] for name, value in after.items() if before.get(name) != value}


def _other_task(run: RunFolder, task: Task, model: ModelConfig, options: Mapping[str, Any]) -> Task:
    """The task with other options, read with the vocabulary that the model has. Raises ValueError."""
    from ..data.tasks import generator_of, make_task

    names = ", ".join(f"{name}={value!r}" for name, value in options.items())
    other = make_task(task.name, {**asdict(task), **options})
    try:
        other.restore(task.learnt())
        needs = {"kind": other.kind, **other.required_sizes()}
        for name, value in needs.items():
            if getattr(model, name) != value:
                raise ValueError(f"it needs {name}={value!r}, and the model has {getattr(model, name)!r}")
        other.batch(generator_of(0, 0), 2)  # reads the data, in which the model's tokens must suffice
    except (ValueError, AssertionError, IndexError, KeyError) as error:
        raise ValueError(
            f"{names} gives data that the model of {run.name!r} cannot read ({error}); "
            "keep vocabulary and lengths, or start a new run"
        ) from None
    return other
