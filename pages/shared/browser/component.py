"""Our own JavaScript as a Streamlit component: one module from several files, sent once a page.

Colours come from viz_core.theme, so that live views and Plotly figures look alike.

Streamlit sends a component's code again with every rerun. So the code travels once, as a component of its own
(`load`), and the one that reruns (`show`) is a line that waits for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from viz_core import theme

HERE = Path(__file__).parent
SHARED_SCRIPTS = (HERE / "dom.js", HERE / "theme.js")


def _colours(dark: bool) -> dict[str, Any]:
    tables = {
        name: theme.lookup_table(name, dark=dark).tobytes().hex() for name in ("sequential", "diverging")
    }
    heads = theme.HEAD_COLOURS_DARK if dark else theme.HEAD_COLOURS
    return {**theme.palette(dark), "heads": list(heads), **tables}


def _module(scripts: Sequence[Path], style: Path) -> str:
    """Colours and style sheet, the shared helpers, then `scripts`, of which the last defines `mount`."""
    constants = {"THEME": {"light": _colours(False), "dark": _colours(True)}, "STYLE": style.read_text()}
    head = [f"const {name} = {json.dumps(value)};" for name, value in constants.items()]
    return "\n".join([*head, *(path.read_text() for path in (*SHARED_SCRIPTS, *scripts))])


class Component:
    """A component whose JavaScript function `mount({parentElement, data, setTriggerValue})` draws bytes."""

    def __init__(self, name: str, scripts: Sequence[Path], style: Path) -> None:
        promise = f"(globalThis.{name}Code ??= Promise.withResolvers())"
        code = f"{_module(scripts, style)}\n{promise}.resolve(mount);\nexport default () => {{}};"
        self._name = f"{name}_code"
        self._code = st.components.v2.component(self._name, js=code)
        # A script of one line would be taken for the path of a file.
        self._view = st.components.v2.component(
            name, js=f"export default async (given) =>\n  (await {promise}.promise)(given);"
        )

    def load(self) -> None:
        """Sends the code; once a page, outside fragments."""
        with st.container(key=f"code_{self._name}"):
            self._code(key=self._name)

    def show(self, payload: bytes, *, key: str, on_act: Callable[[], None]) -> None:
        """Mounts the component, or hands it a new payload.

        `on_act` runs when a person asks the server for something: then `st.session_state[key]["act"]`.
        """
        self._view(data=payload, key=key, on_act_change=on_act)
