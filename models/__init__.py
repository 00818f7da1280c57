"""Public API for notebooks. Names load on first use, so that `import models` stays cheap."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models.config import ModelConfig
    from models.engine.trace import Trace
    from models.engine.transformer import Transformer
    from models.zoo import list_models, load_model
    from models.zoo.untrained import UntrainedModel

__all__ = ["ModelConfig", "Trace", "Transformer", "UntrainedModel", "list_models", "load_model"]

_HOME = {
    "ModelConfig": "models.config",
    "Trace": "models.engine.trace",
    "Transformer": "models.engine.transformer",
    "UntrainedModel": "models.zoo.untrained",
    "list_models": "models.zoo",
    "load_model": "models.zoo",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'models' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
