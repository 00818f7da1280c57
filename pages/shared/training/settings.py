"""A run's settings as links and widgets hold them: options of the task, sizes of the model, the training."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from models.config import POSITION_SCHEMES, Normalizer
from models.fields import Field, Rule, characters, number, one_of, whole, written
from models.limits import in_force
from models.training.config import CHOICES, LIMITS, USUAL_SIZES, RunConfig, TrainingConfig
from models.training.config import run_config as made
from pages.shared.training import tasks_on_offer, uploads
from pages.shared.training.tasks_on_offer import Option, TaskInfo

if TYPE_CHECKING:
    from models.data.tasks import Task


LABELS = {
    "n_layers": "Layers",
    "n_heads": "Heads",
    "max_len": "Context",
    "d_ff": "d_ff (0: 4 ×)",
    "threads": "Threads (0: all)",
    "normalizer": "Scores to weights",
    "learning_rate": "Learning rate",
    "warmup_steps": "Warm-up steps",
    "batch_size": "Batch",
    "clip": "Clip gradients at",
    "decay": "Decays",
    "memory": "Memory of transformer-xl",
    "evaluation_memory": "Its memory when scored (0: as trained)",
}
HELP = {
    "n_layers": "Layers of each stack",
    "d_model": "Width of the residual stream",
    "d_ff": "Width of the feed-forward layers; 0 is four times d_model",
    "max_len": "Positions that the model reads at once",
    "positions": "How the model knows where a token stands",
    "norm": "Whether vectors are normalised before or after each sublayer",
    "normalizer": "How scores become weights; with softmax, a row sums to 1 even where no key is of use",
    "dropout": "Share of activations that is dropped while training",
    "steps": "Updates of the weights",
    "batch_size": "Examples of one step",
    "accumulation": "Pieces in which a batch is read: less memory, the same gradient",
    "learning_rate": "The highest rate; the schedule says when it is reached",
    "schedule": "How the rate rises and falls; warm-up is the schedule of the paper (5.3)",
    "decay": "What weight decay draws to 0: matrices leaves norms and biases free, as GPT-2 and nanoGPT do",
    "clip": "The length to which longer gradients are cut; 0 cuts none",
    "final_rate": "The share of the highest rate at which the cosine schedule ends",
    "label_smoothing": "Share of each target that is spread over all outputs (the paper's 5.4)",
    "precision": "The number format of matrix products; weights stay float32",
    "compile": "Uses torch.compile, which starts slowly and then trains faster",
    "gradient_checkpointing": "Computes activations twice instead of keeping them: less memory, more time",
    "threads": "Threads of the CPU; 0 takes every core",
    "workers": "Processes of a Ray cluster that share each batch; without a cluster, one reads it all",
    "sharding": "Between workers: ddp gives each the whole model, fsdp each a part of every layer",
    "seed": "The same seed gives the same numbers again on the same CPU",
    "validate_every": "Steps between validations; 0 is about 20 times a run",
    "held_out": "Examples that validation reads",
    "n_snapshots": "How often the heads are kept, for scrubbing",
    "checkpoint_seconds": "The seconds between two checkpoints",
}
_AS_BERT = "what answers at each token can be exported as a BERT only with norm post and embedding norm"
ENCODER_HELP = {
    "norm": f"{HELP['norm']}; {_AS_BERT}",
    "embedding_norm": f"Normalises what enters the first layer; {_AS_BERT}",
}
"""What some settings do, of tasks whose model is an encoder."""


def label_of(name: str) -> str:
    """A field's name as a label: gradient_checkpointing becomes Gradient checkpointing; d_model stays."""
    return LABELS.get(name) or (name if name.startswith("d_") else name.replace("_", " ").capitalize())


SIZES: dict[str, tuple[Any, Rule]] = {
    "n_layers": (USUAL_SIZES["n_layers"], whole(1, 48)),
    "n_heads": (USUAL_SIZES["n_heads"], whole(1, 64)),
    "d_model": (USUAL_SIZES["d_model"], whole(1, 4_096)),
    "d_ff": (0, whole(0, 16_384)),
    "max_len": (64, whole(1, 4_096)),
    "positions": ("sinusoidal", one_of(POSITION_SCHEMES)),
    "norm": ("pre", one_of(("pre", "post"))),
    "embedding_norm": (False, one_of((True, False))),
    "activation": ("relu", one_of(("relu", "gelu", "gelu-tanh"))),
    "normalizer": ("softmax", one_of(get_args(Normalizer))),
    "dropout": (0.0, number(0, 0.95)),
}
"""Fields of ModelConfig that a person chooses; d_ff 0 is four times d_model."""

_LARGEST = 1e30
_BY_FACTORS = ("learning_rate",)  # numbers whose order of magnitude is what matters
Values = dict[str, Any]


def size_names(info: TaskInfo) -> list[str]:
    """The sizes that a person may choose for a task; the context only where the task leaves it open, and a
    norm of embeddings only for encoders, as BERT has it.
    """
    closed = set() if "max_len" in info.sizes else {"max_len"}
    closed |= set() if info.kind == "encoder-only" else {"embedding_norm"}
    open_ones = [name for name in SIZES if name not in closed]
    return [name for name in open_ones if name not in info.fixes]


def training_names() -> list[str]:
    """The fields of TrainingConfig, in their order."""
    return [spec.name for spec in _training_fields()]


def _training_fields() -> list[dataclasses.Field[Any]]:
    """The fields of a new run: its schedule starts at its first step."""
    return [spec for spec in dataclasses.fields(TrainingConfig) if spec.name != "schedule_from"]


def chosen_task(first: str) -> Field:
    """The choice of a task as an input of a page; `first` where a link names none."""
    names = {name: info.label for name, info in tasks_on_offer.tasks().items()}
    more = {"label_visibility": "collapsed", "width": 340}
    return Field(first if first in names else next(iter(names)), one_of(names), "Task", more=more)


def declared(info: TaskInfo) -> dict[str, Field]:
    """All settings of a task: the task's defaults, what they may be, and the widgets that set them."""
    found = {option.name: _option(option) for option in info.options}
    for name in size_names(info):
        default, rule = SIZES[name]
        about = ENCODER_HELP.get(name, "") if info.kind == "encoder-only" else ""
        found[name] = _param(name, _like(default, info.sizes.get(name, default)), rule, about)
    for spec in _training_fields():
        default = _like(spec.default, info.training.get(spec.name, spec.default))
        found[spec.name] = _param(spec.name, default, _training_rule(spec))
    return found


def _option(option: Option) -> Field:
    made = _param(option.name, option.default, option_rule(option), option.about)
    if option.column:  # one of the file's, which the page knows once there is a file
        return replace(made, control="list")
    return made


def _param(name: str, default: Any, rule: Rule, about: str = "") -> Field:
    """The setting, with a widget that suits the kind of its default."""
    about = about or HELP.get(name, "")
    label, tip = label_of(name), about[:1].upper() + about[1:] or None
    if isinstance(default, bool):
        return Field(default, rule, label, tip, control="switch")
    if rule.options:
        return Field(default, rule, label, tip, control="list")
    if isinstance(default, int):
        return Field(default, rule, label, tip, control="count", more={"step": 1})
    if name in _BY_FACTORS:
        return Field(default, rule, label, tip, control="rate", more={"step": None, "format": "%.6g"})
    if isinstance(default, float):
        return Field(default, rule, label, tip, control="count", more={"step": None, "format": "%.6g"})
    return Field(default, rule, label, tip, control="line")


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


def link_of_run(info: TaskInfo, described: Mapping[str, Any]) -> dict[str, str]:
    """The link that opens Train with the settings of a run, from its config.json."""
    files = {option.name for option in info.options if option.file}
    options = dict(described["task"]["options"])
    options |= {name: uploads.name_of(options.get(name)) for name in files}
    sizes = dict(described["model"])
    width = sizes.get("d_model")
    if isinstance(width, int) and sizes.get("d_ff") == 4 * width:
        sizes["d_ff"] = 0
    usual, found = defaults(info), {**sizes, **options, **described["training"]}
    known = {name: _like(usual[name], found.get(name, usual[name])) for name in usual}
    return to_link(info, known)


def with_paths(info: TaskInfo, values: Mapping[str, Any]) -> Values:
    """These settings with the path of each file that this visitor handed in. Raises ValueError for one gone.

    Call it on the thread of the page, since a name means another file for every visitor.
    """
    files = [option.name for option in info.options if option.file and values[option.name]]
    return {**values, **{name: str(uploads.path_of(values[name])) for name in files}}


def task_of(info: TaskInfo, values: Mapping[str, Any]) -> Task:
    """The task with the options among these settings, `with_paths`. Raises ValueError for what makes none."""
    from models.data.tasks import make_task

    return make_task(info.name, {option.name: values[option.name] for option in info.options})


def run_config(info: TaskInfo, values: Mapping[str, Any], task: Task | None = None) -> RunConfig:
    """The run that these settings describe. Raises ValueError, in words, for what trains nothing.

    task: that of these settings, where it is at hand; left out, it is made, and its data read.
    """
    sizes = {name: values[name] for name in size_names(info)}
    sizes["d_ff"] = sizes["d_ff"] or None
    training = {name: values[name] for name in training_names()}
    return made(task or task_of(info, with_paths(info, values)), sizes=sizes, training=training)


def option_rule(option: Option) -> Rule:
    """What a task's option may be."""
    if option.file:
        return uploads.FILE
    if option.choices:
        return one_of(tuple(option.choices))
    if isinstance(option.default, bool):
        return one_of((True, False))
    low = -1e9 if option.low is None else option.low
    high = 1e9 if option.high is None else option.high
    if isinstance(option.default, int):
        return whole(int(low), int(high))
    return number(low, high) if isinstance(option.default, float) else characters(in_force().field_characters)


def _training_rule(spec: dataclasses.Field[Any]) -> Rule:
    if spec.name in CHOICES:
        return one_of(CHOICES[spec.name])
    if isinstance(spec.default, bool):
        return one_of((True, False))
    low, high = LIMITS[spec.name]
    return whole(int(low), int(high)) if isinstance(spec.default, int) else number(low, high)


def _like(default: Any, value: Any) -> Any:
    """A number as the widgets need it: whole or not, as the default is."""
    if isinstance(default, float) and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if -_LARGEST < value < _LARGEST else default
    return value
