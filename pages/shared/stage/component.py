"""The stage: the browser side of Explore as one Streamlit component.

Its JavaScript is in the files beside this one, joined in order into one module. Colours come from
viz_core.theme, so the live views and the Plotly figures look alike.

Streamlit sends a component's code again with every rerun. So the code travels once, as a component of its own
(`load`), and the one that reruns (`show`) is a line that waits for it.
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


def _script() -> str:
    """The stage's module: colours and style sheet in front, its promise kept at the end."""
    constants = {
        "THEME": {"light": _colours(False), "dark": _colours(True)},
        "STYLE": (HERE / "stage.css").read_text(),
    }
    head = [f"const {name} = {json.dumps(value)};" for name, value in constants.items()]
    return "\n".join([*head, *((HERE / name).read_text() for name in SCRIPTS)])


_PROMISE = "(globalThis.attentionLab ??= Promise.withResolvers())"
_code = st.components.v2.component(
    "attention_lab_code", js=f"{_script()}\n{_PROMISE}.resolve(mount);\nexport default () => {{}};"
)
_stage = st.components.v2.component(
    "attention_lab_stage", js=f"export default async (given) =>\n  (await {_PROMISE}.promise)(given);"
)


def load() -> None:
    """Sends the stage's code; once a page, outside fragments."""
    with st.container(key="code"):
        _code(key="attention_lab_code")


def show(payload: bytes, *, key: str, on_act: Callable[[], None]) -> None:
    """Mounts the stage, or hands it a new payload.

    `on_act` runs when a person asks the server for something, which is then `st.session_state[key]["act"]`.
    """
    _stage(data=payload, key=key, on_act_change=on_act)
