"""A model on disk: `<name>.safetensors` with the weights, `card.json` beside it with all the rest; or the
checkpoint of a training run, which its folder's JSON files describe.

Nothing but safetensors is ever read for weights, no code is run, and every size is checked before it is read.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from models.byte_units import MB
from models.config import ModelConfig
from models.data.tasks import Task, make_task
from models.engine.transformer import Transformer
from models.files import FileError, check_size, read_bounded, write_json, write_whole
from models.limits import in_force
from models.zoo.cards import CARD

MAX_WEIGHTS_BYTES = in_force().weights_mb * MB
MAX_SIZE = 100_000
MAX_TABLE = 1 << 24  # numbers in a table of positions
Made = TypeVar("Made")


def write_model(folder: Path, name: str, model: Transformer, card: dict[str, Any]) -> Path:
    """Writes weights and card, each whole or not at all; returns the weights' path.

    `card` must hold "task" and "learnt"; "config" is added. Raises ValueError for a name
    that leads out of the folder.
    """
    if not name or Path(name).name != name or name.startswith("."):
        raise ValueError(f"name={name!r} names no file; give one without folders or a dot in front")
    folder.mkdir(parents=True, exist_ok=True)
    weights = folder / f"{name}.safetensors"
    tensors = {key: value.contiguous() for key, value in model.state_dict().items()}
    write_whole(weights, save_tensors(tensors), sync=True)
    write_json(folder / CARD, {**card, "config": model.config.to_dict()}, sync=True)
    return weights


def read_config(weights: Path, values: Any) -> ModelConfig:
    """The config beside the weights, checked. Raises FileError."""
    return checked(weights, "config", lambda: ModelConfig.from_dict(values))


def read_task(path: Path, said: Any, learnt: Any, config: ModelConfig) -> Task:
    """The task `said` in a description at `path`, with what it `learnt`; checked to suit the model's config.

    Raises FileError.
    """

    def make() -> Task:
        task = make_task(said["name"], said["options"], kept=True)
        task.restore(learnt)
        for name, value in {"kind": task.kind, **task.dictates()}.items():
            if getattr(config, name) != value:
                raise ValueError(
                    f"{name}={value!r} is what task {task.name!r} needs, but the model has "
                    f"{name}={getattr(config, name)!r}; choose the description written with the weights"
                )
        return task

    return checked(path, "task", make)


def read_weights(weights: Path, config: ModelConfig, *, part: str = "") -> Transformer:
    """The model of this config with a file's weights, ready to be asked; raises FileError.

    part: the prefix of the names of the model's tensors, such as "model." in a checkpoint.
    """
    tensors = _read_part(weights, part) if part else _read_all(weights)
    _check_sizes(weights, len(tensors), config)
    _check_tensors(weights, tensors, config)
    model = Transformer(config, seed=0)
    model.load_state_dict(tensors)
    return model.eval()


def _read_all(weights: Path) -> dict[str, Tensor]:
    raw = read_bounded(weights, MAX_WEIGHTS_BYTES, "weights")
    return _whole(weights, lambda: load_tensors(raw))


def _read_part(weights: Path, part: str) -> dict[str, Tensor]:
    """Reads only what is asked for: a checkpoint is three times as large as its model."""
    check_size(weights, 3 * MAX_WEIGHTS_BYTES, "a checkpoint")

    def read() -> dict[str, Tensor]:
        with safe_open(weights, framework="pt") as file:
            names = [name for name in file.keys() if name.startswith(part)]  # noqa: SIM118, it is no dict
            return {name[len(part) :]: file.get_tensor(name) for name in names}

    return _whole(weights, read)


def _whole(weights: Path, read: Callable[[], Made]) -> Made:
    try:
        return read()
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError):
        raise FileError(
            f"{str(weights)!r} is no whole safetensors file (damaged, cut short, or another format, never "
            "read); copy or download it again"
        ) from None


def checked(weights: Path, field: str, make: Callable[[], Made]) -> Made:
    """What `make` builds from the description of the weights; any error in it becomes a FileError."""
    try:
        return make()
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, AssertionError) as error:
        said = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise FileError(f"the description of {str(weights)!r} has no valid {field}: {said}") from None


def _check_sizes(weights: Path, n_tensors: int, config: ModelConfig) -> None:
    """Raises FileError for a description of a model far larger than its weights, before it is built."""
    names = ("n_layers", "n_heads", "d_model", "d_head", "d_ff", "max_len")
    sizes = {name: getattr(config, name) for name in names}
    too_large = max(sizes.values()) > MAX_SIZE or config.max_len * config.d_model > MAX_TABLE
    if too_large or config.n_layers > n_tensors:
        raise FileError(
            f"the description of {str(weights)!r} states {sizes}, too large for {n_tensors} tensors; "
            "choose the one written with the weights"
        )


def _check_tensors(weights: Path, tensors: dict[str, Tensor], config: ModelConfig) -> None:
    """Compares names and shapes on the device "meta", before the model takes memory."""

    def shapes() -> dict[str, tuple[int, ...]]:
        with torch.device("meta"):
            return {name: tuple(value.shape) for name, value in Transformer(config).state_dict().items()}

    expected = checked(weights, "config", shapes)
    found = {name: tuple(value.shape) for name, value in tensors.items()}
    problems = [
        *(f"lacks {name}" for name in sorted(expected.keys() - found.keys())),
        *(f"has an unknown {name}" for name in sorted(found.keys() - expected.keys())),
        *(
            f"has {name} {found[name]} instead of {expected[name]}"
            for name in sorted(expected.keys() & found.keys())
            if found[name] != expected[name]
        ),
        *(f"has {name} as {t.dtype}, not float32" for name, t in tensors.items() if t.dtype != torch.float32),
        *(f"has numbers in {name} that are not finite" for name, t in tensors.items() if not _finite(t)),
    ]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise FileError(
            f"{str(weights)!r} {problems[0]}{more}: it is another model's; choose the file that its "
            "description was written with"
        )


def _finite(tensor: Tensor) -> bool:
    return bool(tensor.isfinite().all())
