"""Public API for notebooks. Names load on first use, so that `import models` stays cheap."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models.config import ModelConfig
    from models.engine.trace import Trace
    from models.engine.transformer import Transformer
    from models.interventions import Edit, compare
    from models.interventions.edited_capture import capture
    from models.zoo import list_models, load_model
    from models.zoo.engine_model import UntrainedModel
    from models.zoo.hub.into_engine import into_engine
    from models.zoo.own_model import read_attention

# PyTorch's idle threads would spin while they wait for each other, and where anything else is busy on the
# machine, training would then take ten times as long. OpenMP reads this once, when torch is imported: GNU's
# runtime the first, Intel's both.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("KMP_BLOCKTIME", "0")

__all__ = [
    "Edit",
    "ModelConfig",
    "Trace",
    "Transformer",
    "UntrainedModel",
    "capture",
    "compare",
    "into_engine",
    "list_models",
    "load_model",
    "read_attention",
]

_HOME = {
    "Edit": "models.interventions",
    "ModelConfig": "models.config",
    "Trace": "models.engine.trace",
    "Transformer": "models.engine.transformer",
    "UntrainedModel": "models.zoo.engine_model",
    "capture": "models.interventions.edited_capture",
    "compare": "models.interventions",
    "into_engine": "models.zoo.hub.into_engine",
    "list_models": "models.zoo",
    "load_model": "models.zoo",
    "read_attention": "models.zoo.own_model",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'models' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
