"""The config of a run: task, model and training. It is read and checked without torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, no_type_check

from ..byte_units import MB
from ..config import ModelConfig
from ..fields import SWITCH, check_fields, from_values, number, one_of, setting, whole

if TYPE_CHECKING:
    from ..data.tasks import Task

DECAY = "Weight decay draws these to 0: matrices leaves norms and biases free, as GPT-2 does"
SCHEDULE = "How the rate rises and falls; warm-up is the paper's (5.3), trapezoid falls in the last fifth"
OPTIMIZER = "muon turns each step of a layer's matrix into one of equal lengths; all else goes by adamw"
MINUTES = "The run ends after so many minutes of training, or after its steps, whichever comes first"
COMPILE = replace(
    one_of({"auto": "on a GPU of NVIDIA's", True: "on", False: "off"}),
    fits=lambda value: value == "auto" or isinstance(value, bool),
)
COMPILING = "Starts slowly and then trains faster; the seconds of compiling are counted apart"
SNAPSHOT_BYTES = 16 * MB
"""Of the patterns that a run keeps of its heads; large ones are kept at fewer steps."""
CHECKPOINTING = "Computes activations twice: less memory, more time"
_GONE = ("workers", "sharding")  # of runs that several processes could train: one goes on with them
BEFORE: dict[str, Any] = {"decay": "all", "compile": False}
"""What a run did whose file lacks a field, where that is not the field's default."""


@no_type_check  # check_fields says in words what a field may be
@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How a model is trained.

    minutes: of training, after which the run ends before its steps are taken; the schedule then follows the
    time. 0: by steps. batch_size: examples of one step, read in `accumulation` pieces that together give the
    same gradient. learning_rate: the peak. decay: the weights that weight_decay draws to 0: "matrices" are
    those of linear maps and embeddings, as in nanoGPT, so that norms and biases are free; "all" are all.
    clip: the largest norm of the gradient, 0 for no limit. schedule: "warm-up" is that of Vaswani et al.
    2017, 5.3, scaled to the peak; final_rate: the share of the peak where "cosine" ends. schedule_from: the
    step after which the schedule starts, of a run that was trained further. threads: of the CPU, 0 for
    PyTorch's own choice. validate_every: steps, 0 for up to 20 times a run. held_out: examples that
    validation reads. patience: the training ends after so many validations whose main score gained no more
    than min_delta, 0 never. checkpoint_seconds: between two checkpoints.

    Raises ValueError, with value, rule and remedy, for numbers that train nothing.
    """

    steps: int = setting(1_000, whole(1, 10_000_000), help="Updates of the weights")
    minutes: float = setting(0.0, number(0, 100_000), "Minutes (0: by steps)", MINUTES)
    batch_size: int = setting(32, whole(1, 65_536), "Batch", "Examples of one step")
    accumulation: int = setting(1, whole(1, 65_536), help="Pieces of a batch: less memory, the same gradient")
    optimizer: str = setting("adamw", one_of(("adamw", "adam", "muon")), help=OPTIMIZER)
    learning_rate: float = setting(1e-3, number(1e-9, 10), help="The highest rate", control="rate")
    beta1: float = setting(0.9, number(0, 0.9999))
    beta2: float = setting(0.98, number(0, 0.99999))
    weight_decay: float = setting(0.01, number(0, 10))
    decay: str = setting("matrices", one_of(("matrices", "all")), "Decays", DECAY)
    clip: float = setting(
        1.0, number(0, 1e6), "Clip gradients at", "The length to which longer gradients are cut; 0 cuts none"
    )
    schedule: str = setting("cosine", one_of(("cosine", "constant", "warm-up", "trapezoid")), help=SCHEDULE)
    warmup_steps: int = setting(50, whole(0, 10_000_000), "Warm-up steps")
    schedule_from: int = setting(0, whole(0, 10_000_000))
    final_rate: float = setting(
        0.0, number(0, 1), help="The share of the highest rate at which the cosine schedule ends"
    )
    label_smoothing: float = setting(
        0.0, number(0, 0.9), help="Share of each target that is spread over all outputs (the paper's 5.4)"
    )
    precision: str = setting(
        "float32",
        one_of(("float32", "bfloat16", "float16")),
        help="The number format of matrix products; weights stay float32",
    )
    compile: bool | Literal["auto"] = setting("auto", COMPILE, help=COMPILING)
    gradient_checkpointing: bool = setting(False, SWITCH, help=CHECKPOINTING)
    device: str = setting("auto", one_of(("auto", "cpu", "cuda", "mps")))
    threads: int = setting(0, whole(0, 4_096), "Threads (0: all)", "Threads of the CPU; 0 takes every core")
    seed: int = setting(
        0, whole(0, 2**31 - 1), help="The same seed gives the same numbers again on the same CPU"
    )
    validate_every: int = setting(
        0, whole(0, 10_000_000), help="Steps between validations; 0 is about 20 times a run"
    )
    held_out: int = setting(256, whole(1, 65_536), help="Examples that validation reads")
    patience: int = setting(0, whole(0, 10_000))
    min_delta: float = setting(0.0, number(0, 1e6))
    n_snapshots: int = setting(40, whole(2, 1_000), help="How often the heads are kept, for scrubbing")
    checkpoint_seconds: float = setting(30.0, number(0, 86_400), help="The seconds between two checkpoints")

    def __post_init__(self) -> None:
        check_fields(self)
        if self.accumulation > self.batch_size:
            raise ValueError(
                f"accumulation={self.accumulation} cannot divide batch_size={self.batch_size}; "
                f"try accumulation={self.batch_size}, or a larger batch_size"
            )

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
        there = {name: value for name, value in values.items() if name not in _GONE}
        return cls.from_dict({**BEFORE, **there})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainingConfig:
        """The config that `to_dict` wrote. Raises ValueError for unknown or invalid entries."""
        return from_values(cls, values)


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

    What the task requires wins over `sizes`. Raises ValueError for what makes no model or trains nothing.
    """
    sizes = {"kind": task.kind, **USUAL_SIZES, **task.sizes, **(sizes or {}), **task.required_sizes()}
    settings = {**task.training, **(training or {})}
    model, how = ModelConfig.from_dict(sizes), TrainingConfig.from_dict(settings)
    return RunConfig(task=task, model=model, training=how)


_STEPS = (1, 2, 5)  # of a number that is chosen by its order of magnitude, such as a learning rate
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
