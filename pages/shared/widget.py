"""The widgets that pages declare beside their inputs: what is drawn follows from an input's rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from pages.shared.link import Rule

CHOICES = ("segmented_control", "selectbox", "select_slider", "radio")
NUMBERS = ("slider", "number_input")


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
        if self.kind in CHOICES:
            given.setdefault("options", rule.options)
            given.setdefault("format_func", self.show or (lambda option: rule.names.get(option, str(option))))
        elif self.kind in NUMBERS:
            given = {"min_value": rule.low, "max_value": rule.high, **given}
        if self.kind == "segmented_control":
            given = {"wrap": True, **given, "required": True}  # none is cut off where there is little room
        return getattr(place, self.kind)(**given)


def _of(kind: str) -> Callable[..., Widget]:
    def make(
        label: str, help: str | None = None, show: Callable[[Any], str] | None = None, **more: Any
    ) -> Widget:
        return Widget(kind, label, help, show, more)

    return make


segmented, select, steps, radio = map(_of, CHOICES)
slider, count = map(_of, NUMBERS)
toggle, tick, line, area = map(_of, ("toggle", "checkbox", "text_input", "text_area"))
