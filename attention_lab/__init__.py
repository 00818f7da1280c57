"""Attention Lab as one package: `attention_lab.models` computes, `attention_lab.viz_core` draws.

What is named here shows both in a notebook; it is loaded on first use.

In the repository the three folders in it are links to those beside it; installed, they are in it.
"""

from importlib import import_module
from typing import Any

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
