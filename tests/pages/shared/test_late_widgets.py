"""Values that go to the browser again, until it has told of their widgets."""

from types import SimpleNamespace

import pytest

from pages.shared import late_widgets


class State(dict):
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
    state = State(**{"a.n": 1, "a.text": "x-y", "b.n": 2})
    reported = [SimpleNamespace(id=f"$$ID-0123-{key}") for key in told]
    context = SimpleNamespace(session_state=SimpleNamespace(get_widget_states=lambda: reported))
    monkeypatch.setattr(late_widgets, "st", SimpleNamespace(session_state=state))
    monkeypatch.setattr(late_widgets, "get_script_run_ctx", lambda **_: context)
    late_widgets.write_again(["a.n", "a.text", "never set"])
    assert state.written == written
