"""Parts that every page shares: the box of problems, the order of sending, the last inputs that worked."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any, Generic, TypeVar

from attention_lab.pages.shared import st
from attention_lab.pages.shared.st import DeltaGenerator
from attention_lab.pages.shared.visitors import without_places

# Problems


def show_problems(sentences: Iterable[str | None], *, of: str = "") -> None:
    """Shows sentences about bad input in one box, as plain text, since they quote what people typed.

    of: what a box is about, where it is not that of all pages: a second one, whose sentences outlast the next
    input, or one after which the picture is faded.
    """
    lines = list(filter(None, sentences))
    if lines:
        with st.container(border=True, key=f"problems_{of}" if of else "problems"):
            alert(without_places("\n".join(lines)))


def alert(text: str, **layout: Any) -> None:
    """Plain text like that of `st.text`, which a screen reader reads out as soon as it is there."""
    st.html(f'<div class="stText" role="alert">{escape(text, quote=False)}</div>', **layout)


def as_typed(text: str) -> None:
    """Shows text in letters of one width, with its line breaks. `st.code` would have each page fetch 1.5 MB
    of script, so only the dialog of a take-away uses it.
    """
    st.html(f'<pre class="typed">\n{escape(text, quote=False)}</pre>')  # HTML drops the first line break


def heading(title: str, page: str) -> DeltaGenerator:
    """The row with the page's name, for what stands beside it."""
    row = st.container(horizontal=True, vertical_alignment="center", key=f"{page}_heading")
    row.html(f"<h1>{title}</h1>", width="content")
    return row


# The order of sending

PAUSE_S = 0.04
"""The browser paints together what arrives within this time; the figure would wait for two dozen widgets."""


def draw_parts(parts: Sequence[tuple[DeltaGenerator, Callable[[], None]]], *, again: bool) -> None:
    """Draws each part in its place; the last is the figure.

    A first run paints the page from the top. When it runs `again`, after a change, the figure is sent first,
    and the rest once the browser has had the time to paint it.
    """
    for place, draw_part in reversed(parts) if again else parts:
        with place:
            draw_part()
        if again and draw_part is parts[-1][1]:
            time.sleep(PAUSE_S)


def redraw(fragment: str) -> None:
    """Ends a widget's callback: of the page, only the fragment of this key is drawn again.

    While it is not there yet, what usually follows a change is drawn.
    """
    from streamlit.errors import StreamlitAPIException

    with suppress(StreamlitAPIException):
        st.rerun(fragment)


# The last possible inputs

Value = TypeVar("Value")


@dataclass(frozen=True)
class Computed(Generic[Value]):
    """A value of `inputs`. problem: why these are not the inputs asked for; None if they are."""

    inputs: Any
    value: Value
    problem: str | None


def computed_or_last(
    page: str, present: Any, usual: tuple[Any, ...], make: Callable[[Any], Value]
) -> Computed[Value]:
    """Makes what was asked for; where that raises ValueError, what was shown last, or else a usual one.

    The ValueError of what was asked for is raised again where nothing is possible.
    """
    problem: ValueError | None = None
    for inputs in (present, last(page, present), *usual):
        try:
            value = make(inputs)
        except ValueError as error:
            problem = problem or error
            continue
        st.session_state[_key(page)] = inputs
        return Computed(inputs, value, str(problem) if problem else None)
    assert problem is not None
    raise problem


def last(page: str, otherwise: Any) -> Any:
    """The inputs of what the page showed last."""
    return st.session_state.get(_key(page), otherwise)


def generation(what: object) -> int:
    """Counts the changes of what is shown. A rerun without one gives the same bytes, which stay unsent."""
    session = st.session_state
    if session.get("shown") != what:
        session.shown, session.generation = what, session.get("generation", 0) + 1
    return int(session.generation)


def _key(page: str) -> str:
    return f"{page}.last"
