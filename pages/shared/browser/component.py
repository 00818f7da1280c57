"""The viewer (viz_core/viewer) as a Streamlit component: its program, sent once a page, and the acts that it
may ask the server for (acts.py).

Streamlit sends a component's code again with every rerun, and not packed. So the program has an address
of its own (`route`), which the page's document names; a component of one line fetches it (`load`), and
the one that reruns (`show`) waits for it. (One file for each module was 0.3 s slower at a first visit: a
browser fetches a hundred files of Streamlit's before.)
"""

import hashlib
import secrets
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import streamlit as st

from attention_lab.pages.shared import streamlit_internals, words
from attention_lab.pages.shared.browser import requests
from attention_lab.pages.shared.browser.acts import Act, Kinds, acts_of_message
from attention_lab.viz_core.viewer import program as viewer

HOST = Path(__file__).with_name("streamlit.js")
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

    acts: what it may ask the server for, by type, with the fields of each. host: what exports `mounting`.
    `route` is for `app.py`.
    """

    def __init__(self, kind: str, *, acts: Kinds, host: Path = HOST) -> None:
        name, program = f"attention_lab_{kind}", viewer.program(kind, host)
        promise = f"(globalThis.{name}Code ??= Promise.withResolvers())"
        mount = f'{viewer.module_name(host)}.mounting({program.render}, "{kind}")'
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
                problems.append("No page asks for this; reload.")
                return None
            return [{"event": "act"} for _ in acts]

        self._view(data=payload, key=key, on_act_change=lambda: on_act(acts.popleft()))
        streamlit_internals.guard_component(key, accept)
