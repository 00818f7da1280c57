"""A run's settings as links and widgets hold them: options of the task, sizes of the model, the training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from attention_lab.models.config import ModelConfig
from attention_lab.models.fields import Field, Option, Rule, characters, fields_of, one_of, written
from attention_lab.models.training.config import USUAL_SIZES, RunConfig, TrainingConfig
from attention_lab.models.training.config import run_config as made
from attention_lab.pages.shared.state import MOST_CHARACTERS
from attention_lab.pages.shared.training import tasks_on_offer, uploads
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo

if TYPE_CHECKING:
    from attention_lab.models.data.tasks import Task


_FIELDS = fields_of(ModelConfig) | fields_of(TrainingConfig)
_AS_BERT = "only post-norm models with embedding norm export as a BERT"
ENCODER_HELP = {
    "norm": f"{_FIELDS['norm'].help}; {_AS_BERT}",
    "embedding_norm": f"Normalises what enters the first layer; {_AS_BERT}",
}
"""What some settings do, of tasks whose model is an encoder."""


def label_of(name: str) -> str:
    """A field's name as a label: gradient_checkpointing becomes Gradient checkpointing; d_model stays."""
    label = _FIELDS[name].label if name in _FIELDS else ""
    return label or (name if name.startswith("d_") else name.replace("_", " ").capitalize())


TODAY = (
    *("norm_type", "gated", "n_kv_heads", "d_latent", "qk_norm", "parallel", "local_window", "global_every"),
    *("head_gate", "value_residual", "exclusive", "differential", "depth_attention", "n_experts", "n_active"),
)
"""The switches of ModelConfig that models of later years turn on."""
SIZES = {**USUAL_SIZES, "d_ff": 0, "max_len": 64} | {
    name: 0 if _FIELDS[name].default is None else _FIELDS[name].default
    for name in ("positions", "norm", "embedding_norm", "activation", "normalizer", "dropout", *TODAY)
}
"""Fields of ModelConfig that a person chooses, and their defaults; 0 stands for None."""

_LARGEST = 1e30
Values = dict[str, Any]


def meant(name: str, value: Any) -> Any:
    """A value of these pages as a config has it."""
    return None if value == 0 and name in _FIELDS and _FIELDS[name].default is None else value


def shown(name: str, value: Any) -> Any:
    """A config's value as these pages have it."""
    return 0 if value is None and name in SIZES else value


def size_names(info: TaskInfo) -> list[str]:
    """The sizes that a person may choose for a task; the context only where the task leaves it open, and a
    norm of embeddings only for encoders, as BERT has it.
    """
    closed = set() if "max_len" in info.sizes else {"max_len"}
    closed |= set() if info.kind == "encoder-only" else {"embedding_norm"}
    open_ones = [name for name in SIZES if name not in closed]
    return [name for name in open_ones if name not in info.fixes]


def training_names() -> list[str]:
    """The fields of TrainingConfig, in their order; the schedule of a new run starts at its first step."""
    return [name for name in fields_of(TrainingConfig) if name != "schedule_from"]


def chosen_task(first: str) -> Field:
    """The choice of a task as an input of a page; `first` where a link names none."""
    names = {name: info.label for name, info in tasks_on_offer.tasks().items()}
    more = {"label_visibility": "collapsed", "width": 340}
    return Field(first if first in names else next(iter(names)), one_of(names), "Task", more=more)


def declared(info: TaskInfo) -> dict[str, Field]:
    """All settings of a task: the task's defaults, what they may be, and the widgets that set them."""
    fields: dict[str, Field] = {}
    for option in info.options:
        fields[option.name] = _drawn(option.name, replace(option, rule=option_rule(option)), option.default)
        if option.column:  # one of the file's, which the page knows once there is a file
            fields[option.name] = replace(fields[option.name], control="list")
    for name in size_names(info):
        help = ENCODER_HELP.get(name) if info.kind == "encoder-only" else None
        field = replace(_FIELDS[name], help=help or _FIELDS[name].help)
        fields[name] = _drawn(name, field, _like(SIZES[name], info.sizes.get(name, SIZES[name])))
    for name in training_names():
        default = _FIELDS[name].default
        fields[name] = _drawn(name, _FIELDS[name], _like(default, info.training.get(name, default)))
    return fields


def _drawn(name: str, field: Field, default: Any) -> Field:
    """The field as these pages draw it."""
    rule = field.offered or field.rule
    help = field.help and field.help[:1].upper() + field.help[1:]
    more: dict[str, Any] = {}
    if rule.low is not None:
        more = {"step": 1} if isinstance(default, int) else {"step": None, "format": "%.6g"}
    return replace(field, default=default, rule=rule, label=label_of(name), help=help or None, more=more)


def defaults(info: TaskInfo) -> Values:
    """The values that a first visit shows."""
    return {name: spec.default for name, spec in declared(info).items()}


def to_link(info: TaskInfo, values: Mapping[str, Any]) -> dict[str, str]:
    """The query parameters of these settings: the task, and what differs from its defaults."""
    usual = defaults(info)
    changed = {
        name: written(value) for name, value in values.items() if name in usual and value != usual[name]
    }
    return {"task": info.name, **changed}


def link_of_run(described: Mapping[str, Any]) -> dict[str, str]:
    """The link that opens Train with the settings of a run, from its config.json; {} for a task that is not
    known here.
    """
    info = tasks_on_offer.task_of(described)
    if info is None:
        return {}
    files = {option.name for option in info.options if option.file}
    options = dict(described["task"]["options"])
    options |= {name: uploads.name_of(options.get(name)) for name in files}
    sizes = dict(described["model"])
    width = sizes.get("d_model")
    if isinstance(width, int) and sizes.get("d_ff") == (8 * width // 3 if sizes.get("gated") else 4 * width):
        sizes["d_ff"] = 0
    sizes = {name: shown(name, value) for name, value in sizes.items()}
    usual, values = defaults(info), {**sizes, **options, **described["training"]}
    return to_link(info, {name: _like(usual[name], values.get(name, usual[name])) for name in usual})


def with_paths(info: TaskInfo, values: Mapping[str, Any]) -> Values:
    """These settings with the path of each file that this visitor handed in. Raises ValueError for one gone.

    Call it on the thread of the page, since a name means another file for every visitor.
    """
    files = [option.name for option in info.options if option.file and values[option.name]]
    return {**values, **{name: str(uploads.path_of(values[name])) for name in files}}


def task_of(info: TaskInfo, values: Mapping[str, Any]) -> Task:
    """The task with the options among these settings, `with_paths`. Raises ValueError for what makes none."""
    from attention_lab.models.data.tasks import make_task

    return make_task(info.name, {option.name: values[option.name] for option in info.options})


def run_config(info: TaskInfo, values: Mapping[str, Any], task: Task | None = None) -> RunConfig:
    """The run that these settings describe. Raises ValueError, in words, for what trains nothing.

    task: that of these settings, where it is at hand; left out, it is made, and its data read.
    """
    sizes = {name: meant(name, values[name]) for name in size_names(info)}
    training = {name: values[name] for name in training_names()}
    return made(task or task_of(info, with_paths(info, values)), sizes=sizes, training=training)


def option_rule(option: Option) -> Rule:
    """What a task's option may be."""
    if option.file:
        return uploads.FILE
    if isinstance(option.default, str) and not option.rule.options:
        return characters(MOST_CHARACTERS)
    return option.rule


def _like(default: Any, value: Any) -> Any:
    """A number as the widgets need it: whole or not, as the default is."""
    if isinstance(default, float) and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if -_LARGEST < value < _LARGEST else default
    return value
