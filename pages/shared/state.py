"""The state of a page: the one place where links, widgets and the inputs of computations meet.

A page declares its inputs once (`models.fields.Field`), and everything follows from that: what a link
says, which widget is drawn, what a result is cached by, what "Reset" puts back, and which values are refused.
Every value in `kept` has passed its rule, whether it came by link, by widget, by a table's cell or by a
message written by hand.

Streamlit forgets a widget's value when it is not drawn, so values are kept beside and put back where they
are missing. Its own `persist_state=` would keep them too, but without a rule; `bind="query-params"` would
write the address, which the boards write in the browser while sliders move, and would silently drop what it
does not understand.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from attention_lab.models.fields import SWITCH, CellError, Field, read_link, written
from attention_lab.models.training.config import next_decade_step
from attention_lab.pages.shared import st, words
from attention_lab.pages.shared.st import DeltaGenerator

KEPT = "the previous value is kept"
MOST_CHARACTERS = 2_000
"""The longest text of a field, but for those that models read on Explore: a link carries it."""
Result = TypeVar("Result")


class State:
    """The inputs of one page, in the session of the visitor whose run this is."""

    def __init__(self, name: str, params: Mapping[str, Field]) -> None:
        self.name, self.params = name, params

    def key(self, field: str) -> str:
        """The session's key for an input, and the key of the widget that sets it."""
        return f"{self.name}.{field}"

    @property
    def kept(self) -> dict[str, Any]:
        """The present values, all of which fit; it is the same dict as long as the session lasts."""
        everywhere: dict[str, dict[str, Any]] = st.session_state.setdefault("kept", {})
        kept = everywhere.setdefault(self.name, {})
        for field, spec in self.params.items():
            kept.setdefault(field, spec.default)
        return kept

    def defaults(self) -> dict[str, Any]:
        return {field: spec.default for field, spec in self.params.items()}

    def enter(self) -> None:
        """To be called at the top of every run: takes the link's values on arrival, then what widgets say."""
        self.follow(arrive(self.name))

    def follow(self, arrived: bool, *, drawn_anew: bool = False) -> None:
        """As `enter`, for a part of a page. drawn_anew: the last run drew other widgets in its place."""
        if arrived:
            self.arrive()
        elif drawn_anew:
            self.write_again()
        self.take()

    def arrive(self) -> None:
        """Shows the link's values and defaults for the rest; without a link, the values of the last visit."""
        if st.query_params or self.name not in st.session_state.get("kept", {}):
            values, problems = read_link(self.params, dict(st.query_params))
            self.kept.clear()
            self.put(self.defaults() | values)
            refuse(*problems)
        else:
            self.put(self.kept)  # Streamlit may still hold what its widgets began with

    def take(self) -> None:
        """Keeps what the widgets say, where it fits, and puts back what they forgot."""
        values = self.kept
        for field, spec in self.params.items():
            value = st.session_state.setdefault(self.key(field), values[field])
            if value == spec.default or spec.rule.fits(value):  # None may stand for no value
                values[field] = value
            else:
                refuse(self._refusal(field, value))
                if not spec.rule.fits(values[field]):  # such as a run that is gone
                    values[field] = spec.default
                st.session_state[self.key(field)] = values[field]
        from attention_lab.pages.shared import streamlit_internals

        streamlit_internals.write_again(map(self.key, self.params))

    def put(self, values: Mapping[str, Any]) -> None:
        """Sets inputs, and tells the browser that its own may have changed too."""
        self.kept.update(values)
        for field, value in values.items():
            st.session_state[self.key(field)] = value
        st.session_state.moves = st.session_state.get("moves", 0) + 1

    def write_again(self) -> None:
        """Sends the values of widgets that are drawn anew, which would show their own defaults otherwise."""
        for field, value in self.kept.items():
            st.session_state[self.key(field)] = value

    def draw(
        self,
        field: str,
        place: DeltaGenerator | Any = st,
        *,
        then: Callable[[], None] | None = None,
        count: int | None = None,
        **changes: Any,
    ) -> None:
        """Draws an input's widget. then: what a changed value entails; it finds the value in `kept`.

        count: of how many things, such as layers, it is the number, where the value is one of these; a widget
        cannot hold a value beyond its end. changes: what differs this time from what is declared, such as its
        label.
        """
        spec, key, values = self.params[field], self.key(field), self.kept
        if not spec.label:
            raise TypeError(f"{self.name}.{field} is declared without a widget")

        def on_change() -> None:
            values[field] = st.session_state[key]
            if then:
                then()

        if count is not None and values[field] < count:
            changes["max_value"] = max(1, count - 1)
        draw_widget(spec, place, key=key, on_change=on_change, **changes)
        guard(key, spec.rule.fits, lambda value: self._refusal(field, value), lambda: values[field])

    def draw_grid(
        self, fields: Sequence[str], columns: int = 2, changes: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        """Draws inputs' widgets side by side, so many in a row. changes: by input, as `draw` takes them."""
        for at in range(0, len(fields), columns):
            places = st.columns(columns, vertical_alignment="bottom")
            for place, field in zip(places, fields[at : at + columns], strict=False):
                self.draw(field, place, **(changes or {}).get(field, {}))

    def edit(self, field: str, raw: str) -> None:
        """What a person wrote into the board's cells becomes an input, where it fits."""
        rule = self.params[field].rule
        try:
            self.kept[field] = st.session_state[self.key(field)] = rule.parsed(raw)
        except ValueError as error:
            refusal = str(error) if isinstance(error, CellError) else rule.refusal(raw)
            refuse(f"{refusal}; {KEPT}.")

    def link(self, fields: Iterable[str]) -> dict[str, str]:
        """The query parameters of those of these inputs that differ from their defaults."""
        values, usual = self.kept, self.defaults()
        return {field: written(values[field]) for field in fields if values[field] != usual[field]}

    def reset(self, fields: Iterable[str]) -> None:
        """Sets these inputs to their defaults."""
        usual = self.defaults()
        self.put({field: usual[field] for field in fields})

    def _refusal(self, field: str, value: Any) -> str:
        spec = self.params[field]
        return f"{spec.label.partition(':')[0] or field}: {spec.rule.refusal(value)}; {KEPT}."


WIDGETS = {
    "segments": "segmented_control", "list": "selectbox", "steps": "select_slider", "radio": "radio",
    "slider": "slider", "count": "number_input", "rate": "number_input",
    "switch": "toggle", "tick": "checkbox", "line": "text_input", "area": "text_area",
}  # fmt: skip
"""Streamlit's widget for each control of a field."""


def control_of(field: Field) -> str:
    """How a field is drawn, a key of `WIDGETS`: as it says, or as its rule suggests."""
    rule = field.offered or field.rule
    by_rule = (
        "switch" if rule is SWITCH else "list" if rule.options else "line" if rule.low is None else "count"
    )
    return field.control or by_rule


def draw_widget(field: Field, place: DeltaGenerator | Any, **how: Any) -> Any:
    """Draws a field; `how` has the key, and whatever is to differ this time: label, help, options ..."""
    rule, control = field.offered or field.rule, control_of(field)
    how = {"label": field.label, "help": field.help, **field.more, **how}
    if control in ("segments", "list", "steps", "radio"):
        how.setdefault("options", rule.options)
        show = how.get("format_func") or field.show or (lambda option: rule.names.get(option, str(option)))
        how["format_func"] = lambda option: words.say(show(option))
    elif control in ("slider", "count", "rate"):
        how = {"min_value": rule.low, "max_value": rule.high, **how}
    if control == "segments":
        # None is cut off where there is little room.
        how = {"wrap": True, **how, "required": True}
    return _draw_rate(place, **how) if control == "rate" else getattr(place, WIDGETS[control])(**how)


def _draw_rate(place: DeltaGenerator | Any, *, key: str, **how: Any) -> Any:
    """A field for any number, with buttons that step to the next of 1, 2 and 5 in each decade: Streamlit's
    own add and subtract the same amount wherever the number is. page.css hides them.
    """
    low, high = how["min_value"], how["max_value"]

    def step(up: bool) -> None:
        if key in st.session_state:  # else the field was not drawn since, and Streamlit forgot it
            st.session_state[key] = next_decade_step(st.session_state[key], up=up, low=low, high=high)
            how["on_change"]()

    with place.container(
        horizontal=True, vertical_alignment="bottom", gap="xxsmall", key=f"by_factors_{key}"
    ):
        value = st.number_input(key=key, **how)
        tip = "To the next {} of 1, 2 and 5 in each decade".format
        st.button("÷", key=f"{key}.down", on_click=step, args=(False,), help=tip("lower"))
        st.button("×", key=f"{key}.up", on_click=step, args=(True,), help=tip("higher"))
    return value


def guard(
    key: str, fits: Callable[[Any], bool], refusal: Callable[[Any], str], instead: Callable[[], Any]
) -> None:
    """To be called after a widget is drawn: a message's value is taken if it `fits`; otherwise the page shows
    the `refusal`, and the value is `instead`.
    """
    problems = st.session_state.setdefault("problems", [])

    def accept(value: Any, same: bool) -> Any:
        if same and fits(value):
            return value
        problems.append(refusal(value))
        return instead()

    from attention_lab.pages.shared import streamlit_internals

    streamlit_internals.guard(key, accept)


def guard_choice(key: str, label: str, options: Collection[Any], instead: Any = None) -> None:
    """Guards a widget that is no input of a page: it has one of `options`, a list of some, or nothing."""

    def fits(value: Any) -> bool:
        chosen = value if isinstance(value, list) else [value]
        return value is None or all(each in options for each in chosen)

    guard(key, fits, lambda _: f"{label}: no such choice; {KEPT}.", lambda: instead)


def arrive(page: str) -> bool:
    """Whether the visitor has just come from another page, or from outside."""
    arrived, st.session_state.page = st.session_state.get("page") != page, page
    if arrived:
        from attention_lab.pages.shared.browser import uploading

        uploading.expect_none()
    return arrived


def refuse(*sentences: str) -> None:
    """Notes what was wrong; the page says it when it next draws its problems."""
    st.session_state.setdefault("problems", []).extend(sentences)


def attempt(action: Callable[[], Result], words: Callable[[str], str] = str) -> Result | None:
    """What an action gives; where it is refused, the page says why, in these words, and it is None."""
    try:
        return action()
    except (ValueError, OSError) as error:
        refuse(words(str(error)))
        return None


def problems() -> list[str]:
    """What was refused since they were last asked for, each sentence once."""
    noted = st.session_state.setdefault("problems", [])
    sentences = list(dict.fromkeys(noted))
    noted.clear()
    return sentences
