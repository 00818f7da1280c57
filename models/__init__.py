"""Public API for notebooks. Names load on first use, so that `import models` stays cheap."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import ModelConfig
    from .engine.capture import capture
    from .engine.trace import Trace
    from .engine.transformer import Transformer
    from .interventions import Edit, compare
    from .zoo import list_models, load_model
    from .zoo.engine_model import UntrainedModel
    from .zoo.hub.into_engine import into_engine
    from .zoo.own_model import read_attention

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
    "Edit": ".interventions",
    "ModelConfig": ".config",
    "Trace": ".engine.trace",
    "Transformer": ".engine.transformer",
    "UntrainedModel": ".zoo.engine_model",
    "capture": ".engine.capture",
    "compare": ".interventions",
    "into_engine": ".zoo.hub.into_engine",
    "list_models": ".zoo",
    "load_model": ".zoo",
    "read_attention": ".zoo.own_model",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'models' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
