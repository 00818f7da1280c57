"""Our own JavaScript as a Streamlit component: modules put together into one program, sent once a page,
and the acts that it may ask the server for, checked before a page's code sees them.

Streamlit sends a component's code again with every rerun, and not packed. So the program has an address
of its own (`route`), which the page's document names; a component of one line fetches it (`load`), and
the one that reruns (`show`) waits for it. (One file for each module was 0.3 s slower at a first visit: a
browser fetches a hundred files of Streamlit's before.)

A module may say `import { a, b } from "./other.js";` and put `export` before a function, a class or a
const. Each keeps its own names: it becomes a function that returns what it exports. Colours come from
viz_core.theme, so that live views and Plotly figures look alike.

A message written by hand may hold anything that JSON can say, as deep and as long as it likes.
"""

import hashlib
import json
import re
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import streamlit as st

from models.files import parsed
from models.limits import in_force
from pages.shared import streamlit_internals
from pages.shared.browser import requests
from viz_core import theme

_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://.*\n|/\*(?:[^*]|\*(?!/))*\*/[ \t]*\n?)", re.MULTILINE)
"""One that begins a line. A module has no text over several lines in which a line begins like this."""
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)


def assembled_script(files: Iterable[Path]) -> str:
    """One script of these modules and all that they import, each in a const of its own, imported ones first.

    Raises ValueError where modules import each other in a circle, or in a way that is not understood.
    """
    scripts: dict[Path, str] = {}
    for file in files:
        _add(file.resolve(), scripts, ())
    return "\n".join(scripts.values())


def module_name(file: Path) -> str:
    """The const that holds what a module exports. The browser refuses code in which two have one name."""
    return "_".join(["module", file.parent.name, file.stem])


def _add(file: Path, scripts: dict[Path, str], above: tuple[Path, ...]) -> None:
    if file in above:
        circle = " -> ".join(path.name for path in (*above[above.index(file) :], file))
        raise ValueError(f"modules import each other in a circle: {circle}; move what both need to a third")
    if file in scripts:
        return
    code = file.read_text()
    for _, other in _IMPORT.findall(code):
        _add((file.parent / other).resolve(), scripts, (*above, file))
    exported = ", ".join(name for _, name in _EXPORT.findall(code))

    def import_from(match: re.Match[str]) -> str:
        return f"const {{{match[1]}}} = {module_name((file.parent / match[2]).resolve())};\n"

    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(import_from, _COMMENT.sub("", code)))
    remaining = re.search(r"^(import|export)\b.*", body, re.MULTILINE)
    if remaining:
        raise ValueError(f"{file.name}: {remaining[0]!r} is not understood; see the docstring of {__name__}")
    scripts[file] = f"const {module_name(file)} = (() => {{\n{body}return {{ {exported} }};\n}})();"


MOST_CHARACTERS = 4 * in_force().text_characters
"""The length of a message: the longest text that may be sent, each character written as JSON writes it."""
MOST_ACTS = 16
"""The acts in one message: the browser sends together those that come at once."""
Kind = type | tuple[type, ...]
Kinds = Mapping[str, Mapping[str, Kind]]
"""By what an act is called: all of its fields, and of which kind, or of one of which kinds, each is; `list`
holds texts or numbers."""


Act = dict[str, Any]
"""Its "type", and all fields that are declared for this type."""


def acts_of_message(raw: Any, known: Kinds) -> list[Act]:
    """The acts of a message as Streamlit hands them on. Raises ValueError for anything else in it."""
    if not isinstance(raw, str) or len(raw) > MOST_CHARACTERS:
        raise ValueError("no text, or too long a one")
    message = parsed(raw.encode())
    events, acts = message if isinstance(message, list) else [message], []
    if len(events) > MOST_ACTS:
        raise ValueError("too many acts")
    for event in events:
        match event:
            case {"event": "act", "value": {"type": str(kind), **values} as act} if kind in known:
                declared = known[kind]
            case _:
                raise ValueError("no act")
        if values.keys() != declared.keys():
            raise ValueError("too few fields, or too many")
        for name, of in declared.items():
            if not _is_of(values[name], of):
                raise ValueError(f"{name} is of another kind")
        acts.append(act)
    return acts


def _is_of(value: Any, kind: Kind) -> bool:
    if kind is list:
        return isinstance(value, list) and all(_is_of(each, str) or _is_of(each, int) for each in value)
    return isinstance(value, kind) and not isinstance(value, bool)


SHELL = Path(__file__).with_name("shell.css")
"""The style of what all components have alike; each adds its own."""


def _colours(dark: bool, *, projected: bool = False) -> dict[str, Any]:
    tables = {
        name: theme.lookup_table(name, dark=dark).tobytes().hex() for name in ("sequential", "diverging")
    }
    heads = theme.HEAD_COLOURS_DARK if dark else theme.HEAD_COLOURS
    template = theme.template(dark, projected=projected).to_plotly_json()
    return {**theme.palette(dark, projected=projected), "heads": list(heads), **tables, "template": template}


def _program(main: Path, style: Path, panels: Sequence[Path], own: Mapping[str, Any]) -> str:
    """The text of the modules, after the constants that given.d.ts declares, and those of its `own`."""
    themes = {"light": _colours(False), "dark": _colours(True), "projector": _colours(False, projected=True)}
    values: dict[str, Any] = {"THEME": themes, **own}
    values |= {"STYLE": "\n".join(file.read_text() for file in (SHELL, style))}
    values |= {"PLOTLY": {"address": requests.PLOTLY_ADDRESS, "kinds": requests.AT_ONCE}}
    constants = [f"const {name} = {json.dumps(value)};" for name, value in values.items()]
    kinds = "".join(f"{file.stem}: {module_name(file)}, " for file in panels)
    return "\n".join([*constants, assembled_script([*panels, main]), f"const PANELS = {{ {kinds}}};"])


# A server that died took its sessions with it; the new one knows what the page's first address said. The
# address as it is now says what the visitor sees.
_LOAD = """import(new URL("{address}", location).href);
export default ({{ data }}) => {{
  if ((globalThis.attentionLabSession ??= data) !== data) location.reload();
}};"""


class Component:
    """A component whose module `main` exports `mount({parentElement, data, setTriggerValue})`.

    panels: modules that it finds in PANELS, by the names of their files; each exports a class `Panel`.
    acts: what it may ask the server for, by type, with the fields of each. constants: of the modules.
    `route` is for `app.py`.
    """

    def __init__(
        self,
        name: str,
        main: Path,
        style: Path,
        panels: Sequence[Path] = (),
        *,
        acts: Kinds,
        constants: Mapping[str, Any] | None = None,
    ) -> None:
        promise = f"(globalThis.{name}Code ??= Promise.withResolvers())"
        mount = f"{module_name(main)}.mount"
        script = f"{_program(main, style, panels, constants or {})}\n{promise}.resolve({mount});\n"
        self.address = f"./programs/{name}.{hashlib.sha256(script.encode()).hexdigest()[:16]}.js"
        self.route = requests.program_route(self.address, lambda: script)
        self._name, self._acts = f"{name}_code", acts
        self._code = st.components.v2.component(self._name, js=_LOAD.format(address=self.address))
        # A script of one line would be taken for the path of a file.
        self._view = st.components.v2.component(
            name, js=f"export default async (given) =>\n  (await {promise}.promise)(given);"
        )

    def load(self) -> None:
        """Has the browser fetch the program. Call it once per page, outside fragments."""
        with st.container(key=f"code_{self._name}"):
            self._session()

    # Streamlit's page asks a server that it reaches anew for a run only if the last run was a fragment's, or
    # if something is to run again by itself. Else a new server would be told of acts in fragments that it
    # does not know, and pass them over.
    @st.fragment(run_every=timedelta(days=1))
    def _session(self) -> None:
        session = st.session_state.setdefault("session", secrets.token_hex(8))
        self._code(data=session, key=self._name)

    def show(self, payload: bytes, *, key: str, on_act: Callable[[Act], None] = lambda act: None) -> None:
        """Mounts the component, or hands it a new payload.

        on_act: is called with each act of a person that the server has to answer. Its type is known, and
        it has the declared fields, each of its kind, and no others. Left out, there is nothing to answer.
        """
        problems = st.session_state.setdefault("problems", [])
        acts: deque[Act] = deque()

        def accept(raw: Any) -> list[dict[str, Any]] | None:
            try:
                acts.extend(acts_of_message(raw, self._acts))
            except ValueError:
                problems.append("The server was asked for what no page asks for; reload the page.")
                return None
            return [{"event": "act"} for _ in acts]

        self._view(data=payload, key=key, on_act_change=lambda: on_act(acts.popleft()))
        streamlit_internals.guard_component(key, accept)
