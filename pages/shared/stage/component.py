"""The stage: the browser side of Explore as one Streamlit component.

Its JavaScript is in the files beside this one, joined in order into one module. Colours come from
viz_core.theme, so the live views and the Plotly figures look alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from viz_core import theme

HERE = Path(__file__).parent
SCRIPTS = ("data.js", "dom.js", "grid.js", "head.js", "lines.js", "numbers.js", "output.js", "stage.js")


def _colours(dark: bool) -> dict[str, Any]:
    tables = {
        name: theme.lookup_table(name, dark=dark).tobytes().hex() for name in ("sequential", "diverging")
    }
    heads = theme.HEAD_COLOURS_DARK if dark else theme.HEAD_COLOURS
    return {**theme.palette(dark), "heads": list(heads), **tables}


def script() -> str:
    """The component's module, the theme's colours in front."""
    colours = {"light": _colours(False), "dark": _colours(True)}
    return "\n".join(
        [f"const THEME = {json.dumps(colours)};", *((HERE / name).read_text() for name in SCRIPTS)]
    )


_stage = st.components.v2.component("attention_lab_stage", css=(HERE / "stage.css").read_text(), js=script())


def show(payload: bytes, *, key: str, on_act: Callable[[], None]) -> None:
    """Mounts the stage, or hands it a new payload.

    `on_act` runs when a person asks the server for something, which is then `st.session_state[key]["act"]`.
    """
    _stage(data=payload, key=key, on_act_change=on_act)
