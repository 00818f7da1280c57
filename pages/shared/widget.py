"""The widgets that pages declare beside their inputs: what is drawn follows from an input's rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import streamlit as st

from models.training import config

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from pages.shared.link import Rule

CHOICES = ("segmented_control", "selectbox", "select_slider", "radio")
NUMBERS = ("slider", "number_input")
RATE = "rate"


@dataclass(frozen=True)
class Widget:
    """How an input is set: Streamlit's name for the widget, its label, and what else it is given.

    show: an option in words, where the rule's names are not it.
    """

    kind: str
    label: str
    help: str | None = None
    show: Callable[[Any], str] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def draw(self, place: DeltaGenerator, rule: Rule, **given: Any) -> Any:
        """Draws it; `given` has the key, and whatever is to differ this time: label, help, options ..."""
        given = {"label": self.label, "help": self.help, **self.more, **given}
        if self.kind == RATE:
            return _rate(place, rule, given)
        if self.kind in CHOICES:
            given.setdefault("options", rule.options)
            given.setdefault("format_func", self.show or (lambda option: rule.names.get(option, str(option))))
        elif self.kind in NUMBERS:
            given = {"min_value": rule.low, "max_value": rule.high, **given}
        if self.kind == "segmented_control":
            given = {"wrap": True, **given, "required": True}  # none is cut off where there is little room
        return getattr(place, self.kind)(**given)


def _rate(place: DeltaGenerator, rule: Rule, given: Mapping[str, Any]) -> Any:
    """A field for any number, with buttons that step to the next of 1, 2 and 5 in each decade: Streamlit's
    own add and subtract the same amount wherever the number is. page.css hides them.
    """
    key, low, high = given["key"], rule.low, rule.high
    assert low is not None and high is not None

    def step(up: bool) -> None:
        st.session_state[key] = config.next_decade_step(st.session_state[key], up=up, low=low, high=high)
        given["on_change"]()

    with place.container(
        horizontal=True, vertical_alignment="bottom", gap="xxsmall", key=f"by_factors_{key}"
    ):
        value = st.number_input(**{"min_value": low, "max_value": high, **given})
        tip = "To the next {} of 1, 2 and 5 in each decade".format
        st.button("÷", key=f"{key}.down", on_click=step, args=(False,), help=tip("lower"))
        st.button("×", key=f"{key}.up", on_click=step, args=(True,), help=tip("higher"))
    return value


def _of(kind: str) -> Callable[..., Widget]:
    def make(
        label: str, help: str | None = None, show: Callable[[Any], str] | None = None, **more: Any
    ) -> Widget:
        return Widget(kind, label, help, show, more)

    return make


segmented, select, steps, radio = map(_of, CHOICES)
slider, count = map(_of, NUMBERS)
rate = _of(RATE)
toggle, tick, line, area = map(_of, ("toggle", "checkbox", "text_input", "text_area"))
