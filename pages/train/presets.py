"""Settings that a lecture needs at once; what they take on this machine stands below them."""

from collections.abc import Callable
from typing import Any

from pages.shared.training.settings import Values
from pages.shared.training.tasks_on_offer import TaskInfo


def laptop(info: TaskInfo) -> Values:
    """The task as it comes: from 20 seconds to nine minutes on two cores."""
    return {}


def more(info: TaskInfo) -> Values:
    """Twice as wide for three times as many steps: about ten times the arithmetic."""
    width, steps = info.sizes.get("d_model", 64), info.training.get("steps", 1_000)
    return {"d_model": 2 * width, "steps": 3 * steps}


def gpu(info: TaskInfo) -> Values:
    """nanoGPT's size for characters of Shakespeare, in bfloat16, at least 2,000 steps."""
    sizes: dict[str, Any] = {"n_layers": 6, "n_heads": 6, "d_model": 384, "dropout": 0.2}
    if info.group == "Language" and any(option.name == "length" for option in info.options):
        sizes["length"] = 256
    training = {
        "steps": max(2_000, info.training.get("steps", 0)),
        "batch_size": 64,
        "learning_rate": 1e-3,
        "warmup_steps": 100,
        "device": "cuda",
        "precision": "bfloat16",
        "compile": True,
    }
    return sizes | training


PRESETS: dict[str, Callable[[TaskInfo], Values]] = {
    "a laptop": laptop,
    "ten times the work": more,
    "a GPU": gpu,
}
