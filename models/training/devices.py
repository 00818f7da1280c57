"""The device and the precision of a run, with a plain sentence that says what was chosen."""

import os
import shutil
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec

import psutil
import torch

from models.byte_units import readable
from models.training.config import TrainingConfig


@dataclass(frozen=True)
class Machine:
    """A device, the precision of products there, whether to compile, and a sentence that says so."""

    device: torch.device
    precision: torch.dtype
    compiled: bool
    sentence: str

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
    found = _found()
    kind = found if config.device == "auto" else config.device
    if config.device not in ("auto", "cpu") and not _available(config.device):
        raise ValueError(
            f"device={config.device!r}, but PyTorch finds no such GPU here; choose 'auto' or {found!r}"
        )
    if config.precision == "float16" and kind == "cpu":
        raise ValueError(
            "precision='float16' needs a GPU, but this run is on the CPU; choose 'bfloat16' or 'float32'"
        )
    device = torch.device(kind)
    missing = _missing_compiler(kind) if config.compile else ""
    parts = [f"trains on {_described(device, config)}"]
    if config.precision != "float32":
        parts.append(f"in {config.precision}")
    if config.compile:
        parts.append(f"without torch.compile, as {missing}" if missing else "compiled")
    if config.device == "auto" and kind == "cpu":
        parts.append("as there is no GPU that PyTorch can use")
    compiled = config.compile and not missing
    return Machine(device, getattr(torch, config.precision), compiled, ", ".join(parts))


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


def _found() -> str:
    return next((kind for kind in ("cuda", "mps") if _available(kind)), "cpu")


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
