"""The viewer (viz_core/viewer) as a Streamlit component: its program, sent once a page, and the acts that it
may ask the server for, checked before a page's code sees them.

Streamlit sends a component's code again with every rerun, and not packed. So the program has an address
of its own (`route`), which the page's document names; a component of one line fetches it (`load`), and
the one that reruns (`show`) waits for it. (One file for each module was 0.3 s slower at a first visit: a
browser fetches a hundred files of Streamlit's before.)

A message written by hand may hold anything that JSON can say, as deep and as long as it likes.
"""

import hashlib
import secrets
from collections import deque
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import streamlit as st

from attention_lab.models.files import parsed
from attention_lab.models.limits import in_force
from attention_lab.pages.shared import streamlit_internals, words
from attention_lab.pages.shared.browser import requests
from attention_lab.viz_core.viewer import program as viewer

HOST = Path(__file__).with_name("streamlit.js")
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


# A server that died took its sessions with it; the new one knows what the page's first address said. The
# address as it is now says what the visitor sees.
_LOAD = """import(new URL("%s", location).href);
export default async ({ data: { session, words, language, isChosen } }) => {
  if ((globalThis.attentionLabSession ??= session) !== session)
    (globalThis.attentionLabLost ?? (() => location.reload()))();
  Object.assign(document.documentElement, { lang: language }).toggleAttribute("data-chosen", isChosen);
  if (words) await import(new URL(words, location).href);
  %s.resolve();
};"""
_WORDS = "(globalThis.attentionLabWordsCame ??= Promise.withResolvers())"
_SHOW = """export default async (given) => {
  await %s.promise;
  return (await %s.promise)(given);
};"""


class Component:
    """One kind of what the viewer shows (viz_core/viewer/program.py).

    acts: what it may ask the server for, by type, with the fields of each. `route` is for `app.py`.
    """

    def __init__(self, kind: str, *, acts: Kinds) -> None:
        name, program = f"attention_lab_{kind}", viewer.program(kind, HOST)
        promise = f"(globalThis.{name}Code ??= Promise.withResolvers())"
        mount = f'{viewer.module_name(HOST)}.mounting({program.render}, "{kind}")'
        script = f"{program.script}\n{promise}.resolve({mount});\n"
        self.address = f"./programs/{name}.{hashlib.sha256(script.encode()).hexdigest()[:16]}.js"
        self.route = requests.program_route(self.address, lambda: script)
        self._name, self._acts = f"{name}_code", acts
        self._code = st.components.v2.component(self._name, js=_LOAD % (self.address, _WORDS))
        # A script of one line would be taken for the path of a file.
        self._view = st.components.v2.component(name, js=_SHOW % (_WORDS, promise))

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
        language = words.language()
        given = {"session": session, "language": language, "isChosen": words.is_chosen()}
        self._code(data={**given, "words": words.address(language)}, key=self._name)

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
