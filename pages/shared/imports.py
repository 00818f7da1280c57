"""What several visitors need is imported before the first one comes.

Python locks each module by itself. Where one thread imports a package whose `__init__` imports its parts, and
another begins with a part, each waits for the other; Python notices and hands out a half-made module: an
ImportError for a visitor. In a class that arrives while the server is still cold this happened, with four
visitors on four pages. So nothing that two threads may ask for at once is left to be imported later.

What reads models of transformers is (it takes seconds): the one inference thread that computes imports it.
So are packages that are always entered by the same door, such as scipy's parts.
"""

from importlib import import_module
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
LATER = ("models/zoo/hub", "models/sweeps/driver.py", "models/runs/ray")
"""What the server imports on one thread alone, or never."""
SCRIPTS = ("page", "navigation", "__main__")
"""Files that do something when they are imported: Streamlit runs them for a visitor, or a shell does. One of
that name is a module: what the pages of the lab have alike.
"""


def import_shared() -> None:
    """Imports all modules of the pages, and of the models that they show; to be called before visitors
    come.
    """
    for folder in ("viz_core", "pages", "models"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            place = file.relative_to(ROOT)
            is_script = file.stem in SCRIPTS and place.as_posix() != "pages/lab/page.py"
            if not is_script and not place.as_posix().startswith(LATER):
                parts = place.with_suffix("").parts
                import_module(
                    ".".join(("attention_lab", *(parts[:-1] if file.stem == "__init__" else parts)))
                )
    _draw_a_chart()


def _draw_a_chart() -> None:
    """As Train does: with the first chart Plotly imports what draws it, and Streamlit Plotly's tools."""
    from attention_lab.viz_core.boards import Bars, Board, board_figure

    bars = Bars(values=np.ones(1), labels=["a"], title="bars", x_label="x")
    board_figure(Board(rows=[[bars]], notice="")).to_json()
    import_module("plotly.tools")
