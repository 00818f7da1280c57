"""The private parts of Streamlit that the pages lean on, all of them here; each has a test that fails when
it is gone.

`write_again`. Streamlit loads the code of its widgets late, and a value that the server has set reaches them
with one run alone. If a person changes something before all widgets are there, those that come later begin
with their own defaults, not with what the link says, and soon send that. A value that is written again goes
to the browser again; of a widget that it has told of, this would undo what a person has moved since.

`guard`. What a browser's message says of a widget is decoded before a page's code runs. There Streamlit
raises for a number that is none, and quietly puts its own default where one is out of range; an option that
does not exist goes through. A page can refuse a value in words only if it decodes it itself. The same with
what a component sends, which may be any JSON (`guard_component`).

`hear_widgets_alone`. A message may also name what is no widget, or say of a widget without a guard, such as
a button, what only another kind of widget has; a page that is drawn then meets an error of Streamlit's.

`hear_messages`. What people read is put into their language in one place, where messages leave a run.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any

import streamlit as st
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state.common import WidgetMetadata, is_element_id, user_key_from_element_id
from streamlit.runtime.state.session_state import Serialized, WStates, _is_internal_key


def ignore_unknown_widgets() -> None:
    """From now on, what no widget of ours sends is as if it were not said; to be called before visitors come,
    once or more.
    """
    class_: Any = WStates
    hear, read = class_.set_widget_from_proto, class_.__getitem__
    if hear.__module__ == __name__:
        return

    def take(states: WStates, message: WidgetState) -> None:
        if is_element_id(message.id) or _is_internal_key(message.id):
            hear(states, message)

    def decoded(states: WStates, id_: str) -> Any:
        message, metadata = states.states.get(id_), states.widget_metadata.get(id_)
        if not isinstance(message, Serialized) or metadata is None:
            return read(states, id_)
        kind = message.value.WhichOneof("value")
        if kind not in (None, metadata.value_type) and not isinstance(metadata, _Guarded):
            raise KeyError(id_)
        try:
            return read(states, id_)
        except Exception:  # a message written by hand may cause any error
            raise KeyError(id_) from None

    class_.set_widget_from_proto, class_.__getitem__ = take, decoded


def _session() -> Any:
    """Streamlit's own record of this visitor's widgets; None outside a page."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_state._state if context else None


def _known_ids() -> list[str]:
    """The ids of the widgets that the browser has told of, and that some run has drawn."""
    session = _session()
    known = session._new_widget_state if session else None
    return [id_ for id_ in known.states if id_ in known.widget_metadata] if known else []


def write_again(keys: Iterable[str]) -> None:
    """To be called before widgets are drawn: sends the session's values again to those not yet told of."""
    ids = {user_key_from_element_id(id_) for id_ in _known_ids()}
    for key in keys:
        if key not in ids and key in st.session_state:
            st.session_state[key] = st.session_state[key]


def guard(key: str, accept: Callable[[Any, bool], Any]) -> None:
    """To be called after the widget of this key is drawn: its next values are what `accept` makes of them.

    accept is given a value and whether it is what the message said. It must not use the session's state.
    """
    session = _session()
    id_ = session.get_widget_id_from_key(key) if session else None
    metadata = session.get_widget_metadata(id_) if id_ else None
    if metadata is None:
        return

    def decode(raw: Any) -> Any:
        if raw is None:  # what the widget begins with
            return metadata.deserializer(None)
        try:
            value = metadata.deserializer(raw)
            same = _plain(metadata.serializer(value)) == _plain(raw)
        except Exception:  # a message written by hand may cause any error
            return accept(_plain(raw), False)
        return accept(value if same else _plain(raw), same)

    session._set_widget_metadata(_guarded(metadata, decode))


def guard_component(key: str, accept: Callable[[Any], Any]) -> None:
    """To be called after the component of this key is drawn: `accept` turns a message's text into its events.

    Our components keep no state of their own on the server, so a message's state is ignored.
    """
    session = _session()
    id_ = session.get_widget_id_from_key(key) if session else None
    if id_ is None:
        return
    for part, read in ((id_, lambda raw: None), (_make_trigger_id(id_, "events"), accept)):
        metadata = session.get_widget_metadata(part)

        def decode(raw: Any, original: Any = metadata.deserializer, read: Any = read) -> Any:
            message = None if raw is None else read(raw)
            return original(None) if message is None else message

        session._set_widget_metadata(_guarded(metadata, decode))


@dataclass(frozen=True)
class _Guarded(WidgetMetadata[Any]):
    """Streamlit's record of a widget, whose kind of values no message can change.

    Streamlit takes over the message's kind, and the next run fails where it writes the value as of that kind.
    """

    kind: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value_type", self.kind)


def _guarded(metadata: WidgetMetadata[Any], decode: Callable[[Any], Any]) -> WidgetMetadata[Any]:
    same = {spec.name: getattr(metadata, spec.name) for spec in fields(WidgetMetadata)}
    return _Guarded(**{**same, "deserializer": decode}, kind=metadata.value_type)


def hear_messages(change: Callable[[ForwardMsg], None]) -> None:
    """From now on, `change` may change each message of a run before the browser gets it; to be called once or
    more, before visitors come.
    """
    class_: Any = ScriptRunContext
    send = class_.enqueue
    if send.__module__ == __name__:
        return

    def enqueue(context: ScriptRunContext, message: ForwardMsg) -> None:
        change(message)
        send(context, message)

    class_.enqueue = enqueue


def session_id() -> str:
    """The name of this visitor's session in the addresses of files; "" outside a page."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def _plain(raw: Any) -> Any:
    """A message's value; an array of one entry becomes that entry."""
    if raw is None or isinstance(raw, str | bytes | int | float):
        return raw
    try:
        values = list(raw)
    except TypeError:
        return str(raw)
    return values[0] if len(values) == 1 else tuple(values)
