"""Explore: every head of a transformer, on any sentence. The page holds the viewer, which asks the route for
all that it shows; Streamlit draws the dialogs.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st
from pydantic import ValidationError
from streamlit.delta_generator import DeltaGenerator

from attention_lab.pages.explore import figure, own_files, panel, question, routes
from attention_lab.pages.explore.component import stage
from attention_lab.pages.explore.question import Question, question_of_link
from attention_lab.pages.explore.waiting import Waiting, is_dear
from attention_lab.pages.shared import glossary, menu, model_field
from attention_lab.pages.shared.browser.acts import Act
from attention_lab.pages.shared.page_parts import redraw, show_problems
from attention_lab.pages.shared.state import arrive, problems, refuse
from attention_lab.viz_core.viewer.message import header_of

KEY = "stage"


def on_act(act: Act) -> None:
    """Does what only Streamlit's page can do: leave for another page, or open a dialog."""
    session = st.session_state
    if act["type"] in ("go", "skip"):
        menu.go("explore", act)
        return
    try:
        asked = Question.model_validate_json(act["asked"])
        inputs = question.inputs_of(asked)[0]
    except (ValidationError, ValueError) as error:
        refuse(figure.NO_ACT if isinstance(error, ValidationError) else str(error))
        return
    if act["type"] == "beside":
        session.leave_for_beside = panel.beside_link(inputs, act, act["model2"])
    else:
        session.dialog = (act, asked)
    redraw("stage")


def opens(asking: Callable[[str], Question]) -> Callable[[str], None]:
    """What a dialog does with the name of a model, or of a picture: it closes, and the answer is shown."""

    def show(name: str) -> None:
        asked = asking(name)
        if model_field.can_open(asked.model):
            st.session_state.message = first_message(asked)
            st.session_state.closes = True
            _forget_dialog()

    return show


def draw_dialog(act: Act, asked: Question) -> None:
    """The dialog that the stage asked for."""
    if act["type"] == "takeaway":
        from attention_lab.pages.explore import takeaway  # Plotly's figures are needed only now

        _forget_dialog()
        takeaway.dialog(act, asked)
    elif act["type"] == "models":
        tensors = partial(own_files.tensors_field, asked.model)
        _open_dialog("Another model", model_field.field, opens(lambda name: Question(model=name)), tensors)
    else:
        picture = opens(lambda name: Question(model=asked.model, text=name))
        _open_dialog("A picture of your own", own_files.picture_field, asked.text or "", picture)


def _open_dialog(title: str, draw: Callable[..., None], *given: Any) -> None:
    st.session_state.closes = False

    def inside() -> None:
        if st.session_state.closes:
            st.rerun()  # of the whole page, which ends the dialog
        show_problems(problems(), of="dialog")
        draw(*given)

    st.dialog(title, on_dismiss=_forget_dialog)(inside)()


def _forget_dialog() -> None:
    st.session_state.pop("dialog", None)


def first_message(
    asked: Question,
    refused: list[str] | None = None,
    *,
    from_behind: bool = False,
    place: DeltaGenerator | None = None,
) -> bytes | None:
    """The message that a visit begins with; where it is refused, a usual one, and the page says why.

    place: where the page says of an expensive figure what it costs, while it is computed.
    """
    refused = refused or []
    for each in (asked, *figure.usual_questions(asked)):
        try:
            waiting = Waiting() if place is None else _told(each, place)
            inputs, message = figure.answered(each, waiting, refused, from_behind=from_behind)
            routes.note_shown(st.session_state.session, inputs)
            return message
        except ValueError as error:
            refused = refused or [str(error)]
    show_problems(refused)
    return None


def _told(asked: Question, place: DeltaGenerator) -> Waiting:
    """Who waits for the first figure of a visit."""
    waiting, inputs = Waiting(), question.inputs_of(asked)[0]
    if is_dear(inputs):
        waiting.note_dear(inputs, None)
        place.html(f'<div class="computing" role="status">{waiting.progress}</div>')
    return waiting


@st.fragment(key="stage")
def whole() -> None:
    """The stage, and the dialog that it asked for."""
    session = st.session_state
    if "leave_for_beside" in session:
        st.switch_page("beside/page.py", query_params=session.pop("leave_for_beside"))
    with st.empty():  # it has a place of its own: a stage that moves down the page begins anew
        show_problems(problems())
    if session.message:
        stage.show(session.message, key=KEY, on_act=on_act)
        terms = glossary.found_in(list(header_of(session.message)["terms"]))
        st.html(glossary.drawer(terms, "Terms of this page"))
    if "dialog" in session:
        draw_dialog(*session.dialog)  # once more where a download in it has ended


stage.load()
place = st.empty()  # in every run, for the same reason
if arrive("explore"):
    _forget_dialog()
    asked, refused = question_of_link(dict(st.query_params))
    if not st.query_params:
        asked = routes.shown_last(st.session_state.session) or asked
    # The stage shows what the link says, though it may be there already, with another view.
    st.session_state.arrivals = st.session_state.get("arrivals", -1) + 1
    asked = asked.model_copy(update={"anew": st.session_state.arrivals})
    behind = st.session_state.pop("entered_by", 1) < 0
    st.session_state.message = first_message(asked, refused, from_behind=behind, place=place)
    place.empty()
whole()
