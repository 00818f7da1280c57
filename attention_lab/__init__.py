"""Attention Lab as one package: `attention_lab.models` computes, `attention_lab.viz_core` draws.

What is named here shows both in a notebook; it is loaded on first use.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

_ABOVE = Path(__file__).resolve().parents[1]
if (_ABOVE / "viz_core").is_dir():  # in the repository the folders lie beside this one, installed in it
    __path__.insert(0, str(_ABOVE))

_HOME = {
    **dict.fromkeys(("beside", "explore", "heads", "show"), ".notebook"),
    "watch": ".watching",
    **dict.fromkeys(("capture", "compare", "list_models", "load_model", "read_attention"), ".models"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"attention_lab has no {name!r}; it has {', '.join(sorted(_HOME))}")
    return getattr(import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
