"""The private parts of Streamlit that pages lean on, in its own sessions: a test fails when one is gone."""

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import widget_internals


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
    [
        ((), {"a.n": 1, "a.text": "x-y"}),
        (("a.n",), {"a.text": "x-y"}),
        (("a.n", "a.text", "None"), {}),
    ],
)
def test_only_what_the_browser_has_not_told_of_is_written(
    monkeypatch: pytest.MonkeyPatch, told: tuple[str, ...], written: dict[str, object]
) -> None:
    state = Session(**{"a.n": 1, "a.text": "x-y", "b.n": 2})
    ids = [f"$$ID-0123-{key}" for key in told]
    monkeypatch.setattr(widget_internals, "st", SimpleNamespace(session_state=state))
    monkeypatch.setattr(widget_internals, "_told", lambda: ids)
    widget_internals.write_again(["a.n", "a.text", "never set"])
    assert state.written == written


def numbers() -> None:
    import streamlit as st

    from pages.shared import widget_internals

    heard = st.session_state.setdefault("heard", [])
    st.session_state.told = list(map(widget_internals.user_key_from_element_id, widget_internals._told()))
    st.number_input("n", 0, 9, key="n")

    def accept(value: object, same: bool) -> object:
        heard.append((value, same))
        return value if same else 5

    widget_internals.guard("n", accept)


@pytest.mark.parametrize(
    ("sent", "heard", "becomes"), [(7, (7, True), 7), (99, (99.0, False), 5), (2.5, (2.5, False), 5)]
)
def test_what_a_message_says_is_asked_for_before_it_is_a_value(
    sent: float, heard: tuple[float, bool], becomes: int
) -> None:
    app = AppTest.from_function(numbers).run()
    assert app.session_state.told == []
    app.number_input[0].set_value(sent).run()
    assert app.session_state.heard == [heard]
    assert app.session_state.n == becomes
    assert app.session_state.told == ["n"]


def test_what_cannot_be_decoded_is_asked_for_too() -> None:
    app = AppTest.from_function(numbers).run()
    app.number_input[0].set_value(float("nan")).run()
    (value, same), *_ = app.session_state.heard
    assert value != value and not same
    assert app.session_state.n == 5
    assert not app.exception


def test_without_a_page_nothing_is_guarded() -> None:
    widget_internals.guard("n", lambda value, same: value)
