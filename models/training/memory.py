"""The device, the precision and the memory of a run, each chosen or estimated before it starts."""

import os
import re
import shutil
import time
import weakref
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, NamedTuple

import psutil
import torch
from cachetools import LRUCache, cached

from ..byte_units import MB, readable
from ..data.tasks import Task
from ..data.tasks.pictures import Pictures
from ..engine import size
from .config import RunConfig, TrainingConfig

PEAKS = {
    "H200": (989e12, 495e12), "H100": (989e12, 495e12), "A100": (312e12, 156e12), "V100": (125e12, 15.7e12),
    "L40S": (362e12, 183e12), "L4": (121e12, 60e12), "T4": (65e12, 8.1e12), "4090": (165e12, 83e12),
}  # fmt: skip
"""Dense operations a second in 16 bits, and in float32 or TF32, by a part of the card's name: from NVIDIA's
data sheets (of the SXM form where there are several, and half of what they state with sparsity).
"""


@dataclass(frozen=True)
class Machine:
    """A device, the precision of products there, whether to compile, and a sentence that says so."""

    device: torch.device
    precision: torch.dtype
    compiled: bool
    sentence: str

    def prepare(self) -> None:
        """Lets NVIDIA's GPUs round the factors of products of float32 to 10 bits (TF32), which is many times
        faster; sums stay float32.
        """
        if self.device.type == "cuda":
            torch.backends.cuda.matmul.allow_tf32 = True

    def products(self) -> AbstractContextManager[object]:
        """Inside, matrix products are in the run's precision; weights and their updates stay float32."""
        if self.precision == torch.float32:
            return nullcontext()
        return torch.autocast(self.device.type, self.precision)

    @property
    def scales_loss(self) -> bool:
        """Whether the loss must be scaled, since small gradients vanish in float16's short range."""
        return self.precision == torch.float16 and self.device.type == "cuda"

    @property
    def peak(self) -> float | None:
        """Operations a second in this precision by the card's data sheet; None where it is not known."""
        name = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else ""
        rates = next((rates for card, rates in PEAKS.items() if re.search(rf"\b{card}\b", name)), None)
        return None if rates is None else rates[self.precision == torch.float32]

    @property
    def works_by_itself(self) -> bool:
        """Whether a step goes on while Python does something else, as it does on a GPU."""
        return self.device.type != "cpu"

    def memory_bytes(self) -> int:
        """Bytes: of tensors at their peak on CUDA, of tensors now on MPS, of the process now on the CPU."""
        if self.device.type == "cuda":
            return torch.cuda.max_memory_allocated(self.device)
        if self.device.type == "mps":
            return torch.mps.current_allocated_memory()
        return int(psutil.Process().memory_info().rss)


def choose(config: TrainingConfig) -> Machine:
    """The machine that a config asks for. Raises ValueError where this computer does not have it."""
    best = next((kind for kind in ("cuda", "mps") if _available(kind)), "cpu")
    kind = best if config.device == "auto" else config.device
    if config.device not in ("auto", "cpu") and not _available(config.device):
        raise ValueError(
            f"device={config.device!r}, but PyTorch finds no such GPU here; choose 'auto' or {best!r}"
        )
    if config.precision == "float16" and kind == "cpu":
        raise ValueError(
            "precision='float16' needs a GPU, but this run is on the CPU; choose 'bfloat16' or 'float32'"
        )
    device = torch.device(kind)
    generation = torch.cuda.get_device_capability(device)[0] if kind == "cuda" else 0
    if config.precision == "bfloat16" and kind == "cuda" and generation < 8:
        raise ValueError(
            f"precision='bfloat16' needs a GPU of the Ampere generation or newer, but this one is "
            f"{torch.cuda.get_device_name(device)}; choose 'float16' or 'float32'"
        )
    has_kernels = generation >= 7 and not torch.version.hip  # of Triton's, since Volta
    compiled = has_kernels if config.compile == "auto" else config.compile
    missing = _missing_compiler(kind) if compiled else ""
    parts = [f"trains on {_described(device, config)}"]
    if config.precision != "float32":
        parts.append(f"in {config.precision}")
    if compiled:
        parts.append(f"without torch.compile, as {missing}" if missing else "compiled")
    if config.device == "auto" and kind == "cpu":
        parts.append("as there is no GPU that PyTorch can use")
    return Machine(device, getattr(torch, config.precision), compiled and not missing, ", ".join(parts))


class CompileClock:
    """Counts the seconds that PyTorch's compiler takes in this process, since it was last asked."""

    def __init__(self) -> None:
        from torch._dynamo.callback import callback_handler  # takes a second and a half

        parts = self._parts = list[float]()
        begin = callback_handler.register_start_callback(lambda _: parts.append(-time.perf_counter()))
        end = callback_handler.register_end_callback(lambda _: parts.append(time.perf_counter()))
        weakref.finalize(self, callback_handler.remove_start_callback, begin)
        weakref.finalize(self, callback_handler.remove_end_callback, end)

    def taken(self) -> float:
        """The seconds, which count from now on anew."""
        seconds = sum(self._parts)
        self._parts.clear()
        return seconds


def check_threads(config: TrainingConfig) -> None:
    """Raises ValueError where more threads are asked for than there are cores: they would only wait."""
    cores = os.cpu_count() or 1
    if config.threads > cores:
        raise ValueError(
            f"threads={config.threads:,}, but this machine has {cores} core{'s' * (cores > 1)}; "
            f"try {cores}, or 0 for all of them"
        )


def _available(kind: str) -> bool:
    return torch.cuda.is_available() if kind == "cuda" else torch.backends.mps.is_available()


def _described(device: torch.device, config: TrainingConfig) -> str:
    if device.type == "cuda":
        card = torch.cuda.get_device_properties(device)
        return f"{card.name} ({readable(card.total_memory)})"
    if device.type == "mps":
        return "the GPU of this Mac"
    n_threads = config.threads or torch.get_num_threads()
    return f"the CPU with {n_threads} thread{'s' if n_threads > 1 else ''}"


def _missing_compiler(kind: str) -> str:
    """What torch.compile needs and this computer lacks; "" where it has everything."""
    if kind == "cuda" and find_spec("triton") is None:
        return "it needs Triton, which is not installed"
    if not any(shutil.which(name) for name in (os.environ.get("CXX") or "g++", "clang++", "c++")):
        return "it needs a C++ compiler (g++ or clang++), which is not installed"
    return ""


# Memory, estimated without building anything large

PROCESS_BYTES = 370 * MB
"""What a run's process holds at its peak beside its model and examples: Python, PyTorch, its data read, a
report. Of 20 tasks as they come, the smallest took 361 MB, and the estimates stand within 1.3 of all.
"""
_DRAWN = 32  # examples
_BACKWARD = 1.3  # what the backward pass holds at its peak, gradients of what was kept among it: measured


class Example(NamedTuple):
    """The positions of each input of a task's example, the bytes of the example itself, and how many a run
    holds for as long as it trains: all pictures, since they are read whole.
    """

    lengths: tuple[int, ...]
    n_bytes: int
    n_read: int = 0


def memory_bytes(config: RunConfig, machine: Machine | None = None) -> int:
    """The bytes of weights, gradients and the optimiser's two moments, of what one forward pass keeps for the
    backward pass and the gradients of it, and of the held-out examples. A validation reads as many examples
    at once as a pass does and keeps nothing of them.
    """
    machine = machine or choose(config.training)
    how = config.training
    one = example(config.task)
    validation_bytes = (how.held_out + one.n_read) * one.n_bytes
    validation_bytes += round(
        _BACKWARD * activation_bytes(config, how.n_at_once, half=machine.precision != torch.float32)
    )
    process = PROCESS_BYTES if machine.device.type == "cpu" else 0
    return process + 4 * size.FLOAT_BYTES * size.count_parameters(config.model).total + validation_bytes


def activation_bytes(config: RunConfig, examples: int, *, half: bool = False) -> int:
    """What a forward pass over `examples` of a run's task keeps for the backward pass, in bytes."""
    lengths, recompute = example(config.task).lengths, config.training.gradient_checkpointing
    return size.activation_bytes(config.model, lengths, examples, recompute=recompute, half=half)


def fitting_sizes(config: RunConfig, limit_bytes: int) -> dict[str, Any]:
    """Changes each of which lets a run fit by itself: field -> the value nearest to the present one.

    Empty where no such change is enough.
    """
    sizes: dict[str, Any] = {}
    for name in ("accumulation", "batch_size", "gradient_checkpointing", "d_model", "n_layers"):
        value: Any = None
        trial: RunConfig | None = config
        while trial is not None and memory_bytes(trial) > limit_bytes:
            value, trial = _smaller(trial, name)
        if trial is not None and value is not None:
            sizes[name] = value
    return sizes


def remedy(config: RunConfig, limit_bytes: int) -> str:
    """The sizes that fit, in words, to end a sentence with."""
    sizes = fitting_sizes(config, limit_bytes)
    if not sizes:
        return "no single change is enough: choose a much smaller model, and smaller batches"
    return "try " + ", or ".join(f"{name}={value}" for name, value in sizes.items())


def _smaller(config: RunConfig, name: str) -> tuple[Any, RunConfig | None]:
    """The next value of a setting that needs less memory, and the run with it; None where there is none."""
    model, how, derived = config.model, config.training, dict[str, Any]()
    try:
        if name == "accumulation":
            value: Any = how.accumulation * 2
            return value, replace(config, training=replace(how, accumulation=value))
        if name == "batch_size":
            value = how.batch_size // 2
            return value, replace(config, training=replace(how, batch_size=value))
        if name == "gradient_checkpointing":
            if how.gradient_checkpointing:
                return None, None
            return True, replace(config, training=replace(how, gradient_checkpointing=True))
        value = getattr(model, name) // 2
        if name == "d_model":
            usual = model.ff_size in (0, 4 * model.d_model)
            derived = {"d_head": None, "d_ff": None if usual else model.ff_size // 2}
        return value, replace(config, model=replace(model, **{name: value}, **derived))
    except ValueError:
        return None, None


@cached(LRUCache(64), key=lambda task: (task.name, str(task.to_dict())))  # keeps no task, nor its data
def example(task: Task) -> Example:
    """The size of the task's examples, estimated from a few of them. Raises ValueError without its data."""
    batch = task.sketch(_DRAWN)
    n_bytes = sum(each.nbytes for each in (*batch.inputs, batch.targets, *batch.extra.values()))
    n_read = sum(n or 0 for n in task.split_sizes().values()) if isinstance(task, Pictures) else 0
    return Example(tuple(each.shape[1] for each in batch.inputs), n_bytes // _DRAWN, n_read)
