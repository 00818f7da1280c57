"""The private parts of Streamlit that pages lean on, in its own sessions: a test fails when one is gone."""

from types import SimpleNamespace

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import WStates
from streamlit.testing.v1 import AppTest

from attention_lab.pages.shared import streamlit_internals


class Session(dict):
    """A session's state that notes what is written."""

    def __init__(self, **values: object) -> None:
        super().__init__(values)
        self.written: dict[str, object] = {}

    def __setitem__(self, key: str, value: object) -> None:
        self.written[key] = value
        super().__setitem__(key, value)


@pytest.mark.parametrize(
    ("told", "written"),
    [((), {"a.n": 1, "a.text": "x-y"}), (("a.n",), {"a.text": "x-y"}), (("a.n", "a.text", "None"), {})],
)
def test_only_what_the_browser_has_not_told_of_is_written(
    monkeypatch: pytest.MonkeyPatch, told: tuple[str, ...], written: dict[str, object]
) -> None:
    state = Session(**{"a.n": 1, "a.text": "x-y", "b.n": 2})
    ids = [f"$$ID-0123-{key}" for key in told]
    monkeypatch.setattr(streamlit_internals, "st", SimpleNamespace(session_state=state))
    monkeypatch.setattr(streamlit_internals, "_known_ids", lambda: ids)
    streamlit_internals.write_again(["a.n", "a.text", "never set"])
    assert state.written == written


def numbers() -> None:
    import streamlit as st

    from attention_lab.pages.shared import streamlit_internals as internals

    heard = st.session_state.setdefault("heard", [])
    st.session_state.told = list(map(internals.user_key_from_element_id, internals._known_ids()))
    st.number_input("n", 0, 9, key="n")

    def accept(value: object, same: bool) -> object:
        heard.append((value, same))
        return value if same else 5

    internals.guard("n", accept)


@pytest.mark.parametrize(
    ("sent", "heard", "becomes"), [(7, (7, True), 7), (99, (99.0, False), 5), (2.5, (2.5, False), 5)]
)
def test_what_a_message_says_is_asked_for_before_it_is_a_value(
    sent: float, heard: tuple[float, bool], becomes: int
) -> None:
    app = AppTest.from_function(numbers, default_timeout=60).run()
    assert app.session_state.told == []
    app.number_input[0].set_value(sent).run()
    assert app.session_state.heard == [heard]
    assert app.session_state.n == becomes
    assert app.session_state.told == ["n"]


def test_what_cannot_be_decoded_is_asked_for_too() -> None:
    app = AppTest.from_function(numbers, default_timeout=60).run()
    app.number_input[0].set_value(float("nan")).run()
    (value, same), *_ = app.session_state.heard
    assert value != value and not same
    assert app.session_state.n == 5
    assert not app.exception


def test_without_a_page_nothing_is_guarded() -> None:
    streamlit_internals.guard("n", lambda value, same: value)


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> WStates:
    """What a session knows of a button, and of a widget that takes numbers up to 9."""
    for name in ("set_widget_from_proto", "__getitem__"):
        monkeypatch.setattr(WStates, name, getattr(WStates, name))
    streamlit_internals.ignore_unknown_widgets()
    streamlit_internals.ignore_unknown_widgets()
    made = WStates()
    made.set_widget_metadata(WidgetMetadata("$$ID-0-None", lambda raw: raw or False, bool, "trigger_value"))
    made.set_widget_metadata(WidgetMetadata("$$ID-1-n", lambda raw: range(10)[int(raw)], int, "double_value"))
    return made


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ({"id": "$$ID-0-None", "trigger_value": True}, True),
        ({"id": "$$ID-0-None", "string_value": "x"}, None),
        ({"id": "$$ID-0-None", "json_trigger_value": "[{}]"}, None),
        ({"id": "$$ID-1-n", "double_value": 7}, 7),
        ({"id": "$$ID-1-n", "double_value": 99}, None),
        ({"id": "$$ID-1-n", "double_value": float("nan")}, None),
        ({"id": "$$ID-1-n", "double_array_value": {"data": [7.0]}}, None),
    ],
)
def test_a_value_that_no_such_widget_has_is_not_heard(
    states: WStates, said: dict[str, object], heard: object
) -> None:
    states.set_widget_from_proto(WidgetState(**said))
    assert states.get(str(said["id"]), None) == heard


@pytest.mark.parametrize("id_", ["", "-1", "n", "../../etc/passwd"])
def test_of_what_is_no_widget_nothing_is_kept(states: WStates, id_: str) -> None:
    states.set_widget_from_proto(WidgetState(id=id_, double_value=7))
    assert states.states == {}
    states.set_widget_from_proto(WidgetState(id="$$ID-2-drawn.later", double_value=7))
    assert [*states.states] == ["$$ID-2-drawn.later"]
