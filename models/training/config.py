"""The config of a run: task, model and training. It is read and checked without torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args, no_type_check

from models.config import ModelConfig
from models.names import nearest, shortened

if TYPE_CHECKING:
    from models.data.tasks import Task


Optimizer = Literal["adamw", "adam"]
Decay = Literal["matrices", "all"]
Schedule = Literal["cosine", "constant", "warm-up"]
Precision = Literal["float32", "bfloat16", "float16"]
Device = Literal["auto", "cpu", "cuda", "mps"]
Sharding = Literal["ddp", "fsdp"]

CHOICES: dict[str, tuple[str, ...]] = {
    "optimizer": get_args(Optimizer),
    "decay": get_args(Decay),
    "schedule": get_args(Schedule),
    "precision": get_args(Precision),
    "device": get_args(Device),
    "sharding": get_args(Sharding),
}
LIMITS: dict[str, tuple[float, float]] = {
    "steps": (1, 10_000_000),
    "batch_size": (1, 65_536),
    "accumulation": (1, 65_536),
    "learning_rate": (1e-9, 10.0),
    "beta1": (0.0, 0.9999),
    "beta2": (0.0, 0.99999),
    "weight_decay": (0.0, 10.0),
    "clip": (0.0, 1e6),
    "warmup_steps": (0, 10_000_000),
    "schedule_from": (0, 10_000_000),
    "final_rate": (0.0, 1.0),
    "label_smoothing": (0.0, 0.9),
    "threads": (0, 4_096),
    "workers": (1, 1_024),
    "seed": (0, 2**31 - 1),
    "validate_every": (0, 10_000_000),
    "held_out": (1, 65_536),
    "patience": (0, 10_000),
    "min_delta": (0.0, 1e6),
    "n_snapshots": (2, 1_000),
    "checkpoint_seconds": (0.0, 86_400.0),
}
"""The least and the greatest value of every number of `TrainingConfig`."""
BEFORE: dict[str, Any] = {"decay": "all"}
"""What a run did whose file lacks a field, where that is not the field's default."""


@no_type_check  # the checks below say in words what a field may be
@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How a model is trained.

    batch_size: examples of one step, read in `accumulation` pieces that together give the same gradient.
    learning_rate: the peak. decay: the weights that weight_decay draws to 0: "matrices" are those of linear
    maps and embeddings, as in nanoGPT, so that norms and biases are free; "all" are all. clip: the largest
    norm of the gradient, 0 for no limit. schedule: "warm-up" is that of Vaswani et al. 2017, 5.3, scaled to
    the peak; final_rate: the share of the peak where "cosine" ends. schedule_from: the step after which the
    schedule starts, of a run that was trained further. threads: of the CPU, 0 for PyTorch's own choice.
    validate_every: steps, 0 for up to 20 times a run. held_out: examples that validation reads. patience: the
    training ends after so many validations whose main score gained no more than min_delta, 0 never.
    checkpoint_seconds: between two checkpoints.

    Raises ValueError, with value, rule and remedy, for numbers that train nothing.
    """

    steps: int = 1_000
    batch_size: int = 32
    accumulation: int = 1
    optimizer: Optimizer = "adamw"
    learning_rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.98
    weight_decay: float = 0.01
    decay: Decay = "matrices"
    clip: float = 1.0
    schedule: Schedule = "cosine"
    warmup_steps: int = 50
    schedule_from: int = 0
    final_rate: float = 0.0
    label_smoothing: float = 0.0
    precision: Precision = "float32"
    compile: bool = False
    gradient_checkpointing: bool = False
    device: Device = "auto"
    threads: int = 0
    workers: int = 1
    sharding: Sharding = "ddp"
    seed: int = 0
    validate_every: int = 0
    held_out: int = 256
    patience: int = 0
    min_delta: float = 0.0
    n_snapshots: int = 40
    checkpoint_seconds: float = 30.0

    def __post_init__(self) -> None:
        for spec in fields(self):
            _check(spec.name, getattr(self, spec.name), spec.default)
        if self.accumulation > self.batch_size:
            raise ValueError(
                f"accumulation={self.accumulation} cannot divide batch_size={self.batch_size}; "
                f"try accumulation={self.batch_size}, or a larger batch_size"
            )
        if self.workers * self.accumulation > self.batch_size:
            raise ValueError(
                f"workers={self.workers} cannot share batch_size={self.batch_size} in accumulation="
                f"{self.accumulation} pieces each; try workers={self.batch_size // self.accumulation}, or a "
                "larger batch_size"
            )
        if self.workers > 1 and self.sharding == "fsdp" and (self.precision == "float16" or self.compile):
            what = "precision='float16'" if self.precision == "float16" else "compile=True"
            raise ValueError(f"{what} does not go with sharding='fsdp'; choose 'ddp', or bfloat16 uncompiled")

    @property
    def n_at_once(self) -> int:
        """The examples that a step or a validation reads at once."""
        return -(-self.batch_size // self.accumulation)

    @property
    def validation_interval(self) -> int:
        """Steps between two validations.

        With `validate_every` 0 it is about a twentieth of the run, or more, up to a quarter, where validating
        would take over a sixth of the time. A validation makes two forward passes over each held-out example;
        a step costs three forward passes over its batch, since the backward pass costs two.
        """
        if self.validate_every:
            return self.validate_every
        price = 2 / 3 * self.held_out / self.batch_size  # a validation costs as much as so many steps
        affordable = min(math.ceil(6 * price), self.steps // 4)
        return max(1, self.steps // 20, affordable)

    @property
    def norms_interval(self) -> int:
        """Steps between two records of the norms of the model's parts: at most 250 a run."""
        return math.ceil(self.steps / 250)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_file(cls, values: Mapping[str, Any]) -> TrainingConfig:
        """The config that a run's file or a card states, with what was so before a field was there.

        Raises ValueError for unknown or invalid entries.
        """
        return cls.from_dict({**BEFORE, **values})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainingConfig:
        """The config that `to_dict` wrote. Raises ValueError for unknown or invalid entries."""
        known = [spec.name for spec in fields(cls)]
        for name in values:
            if name not in known:
                raise ValueError(f"{name!r} is no field of TrainingConfig; {nearest(name, known)}")
        return cls(**values)


@no_type_check  # a task comes with torch, which is not imported here
@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """A task, the model that learns it, and how. Raises ValueError where the model is of another kind."""

    task: Task
    model: ModelConfig
    training: TrainingConfig

    def __post_init__(self) -> None:
        if self.model.kind != self.task.kind:
            raise ValueError(
                f"kind={self.model.kind!r} cannot learn task {self.task.name!r}; give it {self.task.kind!r}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, without what the task learnt from its data."""
        task = {"name": self.task.name, "options": self.task.to_dict()}
        return {"task": task, "model": self.model.to_dict(), "training": self.training.to_dict()}


USUAL_SIZES = {"n_layers": 2, "n_heads": 4, "d_model": 64}
"""The sizes of a model where neither its task nor a person says any."""


@no_type_check
def run_config(
    task: Task, *, sizes: Mapping[str, Any] | None = None, training: Mapping[str, Any] | None = None
) -> RunConfig:
    """The run of a task with its default sizes and training, except for those given here.

    What the task dictates wins over `sizes`. Raises ValueError for what makes no model or trains nothing.
    """
    sizes = {"kind": task.kind, **USUAL_SIZES, **task.sizes, **(sizes or {}), **task.dictates()}
    settings = {**task.training, **(training or {})}
    model, how = ModelConfig.from_dict(sizes), TrainingConfig.from_dict(settings)
    return RunConfig(task=task, model=model, training=how)


def _check(name: str, value: object, default: object) -> None:
    """Raises ValueError where a field may not be `value`."""
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ValueError(f"{name}={value!r} is neither True nor False; choose one")
        return
    if name in CHOICES:
        if value not in CHOICES[name]:
            raise ValueError(f"{name}={value!r} is unknown; choose one of {', '.join(CHOICES[name])}")
        return
    whole = isinstance(default, int)
    kinds = int if whole else (int, float)
    endless = isinstance(value, float) and not math.isfinite(value)
    if isinstance(value, bool) or not isinstance(value, kinds) or endless:
        raise ValueError(f"{name}={value!r:.60} is no {'whole ' if whole else ''}number; try {default}")
    low, high = LIMITS[name]
    if not low <= value <= high:
        shown = shortened(f"{value:,}")
        raise ValueError(f"{name}={shown} is not within {low:,g} to {high:,g}; try {default:,}")


# The steps of a number that is chosen by its order of magnitude, such as a learning rate: 1, 2, 5, 10 ...

_STEPS = (1, 2, 5)
_NEAR = 1e-9  # relative: a step that was written and read again is still that step


def next_decade_step(value: float, *, up: bool, low: float, high: float) -> float:
    """The next of 1, 2 and 5 times a power of ten above `value`, or below it, within `low` to `high`.

    Raises ValueError for a value that is not positive, which has no order of magnitude.
    """
    if not value > 0:
        raise ValueError(f"value={value!r} has no order of magnitude; give a number above 0")
    exponent = math.floor(math.log10(value))
    steps = [float(f"{step}e{exponent + more}") for more in (-1, 0, 1) for step in _STEPS]
    if up:
        return min(high, next(step for step in steps if step > value * (1 + _NEAR)))
    return max(low, next(step for step in reversed(steps) if step < value * (1 - _NEAR)))
