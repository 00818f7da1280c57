"""`--set name=value`: finds what a name means among a task's options, the model's sizes and the training."""

from collections.abc import Iterable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from ..config import ModelConfig
from ..data.tasks import TASKS, Task, make_task
from ..fields import fields_of, nearest, options_of, value_of
from .config import RunConfig, TrainingConfig, run_config


def configured(task_name: str, settings: Iterable[str]) -> RunConfig:
    """The run of a task with "name=value" settings. Raises ValueError, naming what was meant."""
    options, sizes, training = parted(task_name, settings)
    task = make_task(task_name, options)
    check_not_required(task, sizes)
    return run_config(task, sizes=sizes, training=training)


def parted(task_name: str, settings: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What "name=value" settings say of the task's options, the model's sizes and the training.

    Raises ValueError, naming what was meant.
    """
    if task_name not in TASKS:
        raise ValueError(f"task={task_name!r} is unknown; {nearest(task_name, TASKS)}")
    options, sizes, training = dict[str, Any](), dict[str, Any](), dict[str, Any]()
    kinds = ((options, TASKS[task_name]), (sizes, ModelConfig), (training, TrainingConfig))
    groups = [(values, _defaults(kind)) for values, kind in kinds]
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise ValueError(f"{setting!r} sets nothing; write it as name=value, such as n_heads=8")
        group = next(((values, known) for values, known in groups if name in known), None)
        if group is None:
            known_names = [known_name for _, known in groups for known_name in known]
            raise ValueError(f"{name!r} is nothing that can be set; {nearest(name, known_names)}")
        group[0][name] = value_of(text.strip(), group[1][name])
    # Absolute paths, since a run may be resumed from another folder, or by the page.
    files = [name for name, option in options_of(TASKS[task_name]).items() if option.file]
    paths = {name: str(Path(options[name]).expanduser().absolute()) for name in files if options.get(name)}
    return {**options, **paths}, sizes, training


def check_not_required(task: Task, sizes: Iterable[str]) -> None:
    """Raises ValueError where one of these sizes of the model follows from the task."""
    required = [name for name in sizes if name in task.required_sizes()]
    if required:
        known = [spec.name for spec in fields(task)]
        raise ValueError(
            f"{required[0]} follows from task {task.name!r} and cannot be set; "
            f"change the task's options: {', '.join(known) or 'it has none'}"
        )


def _defaults(kind: Any) -> dict[str, Any]:
    """The defaults; None where there is none, or where a switch may also be a word."""
    free = {spec.name for spec in fields(kind) if spec.default is MISSING}
    for name, spec in fields_of(kind).items():
        if isinstance(spec.default, str) and True in (spec.rule.names or ()):
            free.add(name)
    return {spec.name: None if spec.name in free else spec.default for spec in fields(kind)}
