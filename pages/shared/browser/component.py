"""Our own JavaScript as a Streamlit component: modules put together into one program, sent once a page.

Colours come from viz_core.theme, so that live views and Plotly figures look alike.

Streamlit sends a component's code again with every rerun. So the code travels once, as a component of its own
(`load`), and the one that reruns (`show`) is a line that waits for it. (One file for each module from an own
address was 0.3 s slower at a first visit: a browser fetches a hundred files of Streamlit's before.)
"""

import json
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from pages.shared import widget_internals
from pages.shared.browser import acts, modules, plotly_js
from pages.shared.browser.acts import Act, Kinds
from viz_core import theme

SHELL = Path(__file__).with_name("shell.css")
"""The style of what all components have alike; each adds its own."""


def _colours(dark: bool, *, projected: bool = False) -> dict[str, Any]:
    tables = {
        name: theme.lookup_table(name, dark=dark).tobytes().hex() for name in ("sequential", "diverging")
    }
    heads = theme.HEAD_COLOURS_DARK if dark else theme.HEAD_COLOURS
    template = theme.template(dark, projected=projected).to_plotly_json()
    return {**theme.palette(dark, projected=projected), "heads": list(heads), **tables, "template": template}


def _program(main: Path, style: Path, panels: Sequence[Path]) -> str:
    """The text of the modules, after the constants that pages/shared/browser/given.d.ts declares."""
    themes = {"light": _colours(False), "dark": _colours(True), "projector": _colours(False, projected=True)}
    given: dict[str, Any] = {"THEME": themes}
    given |= {"STYLE": "\n".join(file.read_text() for file in (SHELL, style))}
    given |= {"PLOTLY": {"address": plotly_js.ADDRESS, "kinds": plotly_js.AT_ONCE}}
    constants = [f"const {name} = {json.dumps(value)};" for name, value in given.items()]
    kinds = "".join(f"{file.stem}: {modules.name_of(file)}, " for file in panels)
    return "\n".join([*constants, modules.assembled([*panels, main]), f"const PANELS = {{ {kinds}}};"])


# A server that died took its sessions with it; the new one knows what the page's first address said. The
# address as it is now says what the visitor sees.
_SESSION = """export default ({ data }) => {
  if ((globalThis.attentionLabSession ??= data) !== data) location.reload();
};"""


class Component:
    """A component whose module `main` exports `mount({parentElement, data, setTriggerValue})`.

    panels: modules that it finds in PANELS, by the names of their files; each exports a class `Panel`.
    acts: what it may ask the server for, by type, with the fields of each.
    """

    def __init__(
        self, name: str, main: Path, style: Path, panels: Sequence[Path] = (), *, acts: Kinds
    ) -> None:
        promise = f"(globalThis.{name}Code ??= Promise.withResolvers())"
        mount = f"{modules.name_of(main)}.mount"
        code = f"{_program(main, style, panels)}\n{promise}.resolve({mount});\n{_SESSION}"
        self._name, self._acts = f"{name}_code", acts
        self._code = st.components.v2.component(self._name, js=code)
        # A script of one line would be taken for the path of a file.
        self._view = st.components.v2.component(
            name, js=f"export default async (given) =>\n  (await {promise}.promise)(given);"
        )

    def load(self) -> None:
        """Sends the code. Call it once per page, outside fragments."""
        session = st.session_state.setdefault("session", secrets.token_hex(8))
        with st.container(key=f"code_{self._name}"):
            self._code(data=session, key=self._name)

    def show(self, payload: bytes, *, key: str, on_act: Callable[[Act], None]) -> None:
        """Mounts the component, or hands it a new payload.

        on_act: is called with each act of a person that the server has to answer. Its type is known, and
        it has the declared fields, each of its kind, and no others.
        """
        problems = st.session_state.setdefault("problems", [])
        heard: deque[Act] = deque()

        def accept(raw: Any) -> list[dict[str, Any]] | None:
            try:
                heard.extend(acts.checked(raw, self._acts))
            except ValueError:
                problems.append("The server was asked for what no page asks for; reload the page.")
                return None
            return [{"event": "act"} for _ in heard]

        self._view(data=payload, key=key, on_act_change=lambda: on_act(heard.popleft()))
        widget_internals.guard_component(key, accept)
