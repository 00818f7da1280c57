"""Public API for notebooks. Names load on first use, so that `import models` stays cheap."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import ModelConfig
    from .engine.trace import Trace
    from .engine.transformer import Transformer
    from .interventions import Edit, compare
    from .interventions.edited_pass import capture
    from .zoo import load_model
    from .zoo.engine_model import UntrainedModel
    from .zoo.folders import list_models
    from .zoo.hub.into_engine import into_engine
    from .zoo.own_model import read_attention

# PyTorch's idle threads would spin while they wait for each other, and where anything else is busy on the
# machine, training would then take ten times as long. OpenMP reads this once, when torch is imported: GNU's
# runtime the first, Intel's both.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("KMP_BLOCKTIME", "0")

_HOME = {
    "Edit": "attention_lab.models.interventions",
    "ModelConfig": "attention_lab.models.config",
    "Trace": "attention_lab.models.engine.trace",
    "Transformer": "attention_lab.models.engine.transformer",
    "UntrainedModel": "attention_lab.models.zoo.engine_model",
    "capture": "attention_lab.models.interventions.edited_pass",
    "compare": "attention_lab.models.interventions",
    "into_engine": "attention_lab.models.zoo.hub.into_engine",
    "list_models": "attention_lab.models.zoo.folders",
    "load_model": "attention_lab.models.zoo",
    "read_attention": "attention_lab.models.zoo.own_model",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'models' has no attribute {name!r}; it has {', '.join(_HOME)}")
    return getattr(import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
