"""Long texts: the microscope. Every head over a document of tens of thousands of tokens, zoomed as a map."""

from __future__ import annotations

from typing import Any

import streamlit as st

from models.interventions.edit import named_numbers
from models.limits import in_force
from models.zoo.offers import offer_of
from pages.documents import reading, state
from pages.documents.map.component import pattern_map
from pages.documents.reading import (
    DocumentJob,
    DocumentRequest,
    GoneError,
    HeadPicture,
    ask,
    forget,
    on_tiles,
)
from pages.shared import page_parts
from pages.shared.browser import uploading
from pages.shared.browser.component import Act
from pages.shared.page_parts import generation, show_problems
from pages.shared.state import problems, refuse
from pages.shared.wording import plain
from pages.shared.work import STOPPED, progress, this_page

MOST_FILE = state.MOST_CHARACTERS


def on_act(act: Act) -> None:
    """A wish from the map: another window, a row and a column, or all that it has lost."""
    session = st.session_state
    if act["type"] == "window":
        session.map_window = {name: act[name] for name in ("q0", "q1", "k0", "k1")}
    elif act["type"] == "look":
        session.map_look = (act["query"], act["key"])
    elif act["type"] == "takeaway":
        session.takeaway = act
    else:
        session.map_sent = None


def controls(work: DocumentJob) -> None:
    """The column beside the map."""
    shown = state.page()
    names = state.readers()
    names += [shown.kept["model"]] if shown.kept["model"] not in names else []
    shown.draw("model", options=names, format_func=_title)
    seen = work.seen
    about = seen and seen.stacks[seen.place.stack]
    if seen and len(seen.stacks) > 1:
        shown.draw("stack")
    n_layers, n_heads = (1 + max(about.layers), about.n_heads) if about else (0, 0)
    for name, count in (("layer", n_layers), ("head", n_heads)):
        most: dict[str, Any] = {"max_value": max(1, count - 1)} if shown.kept[name] < count else {}
        shown.draw(name, **most)
    for name in ("measure", "range", "without"):
        shown.draw(name)
    if seen and about:
        tokens = " and ".join(f"{len(each):,} {_of(side, seen)}tokens" for side, each in seen.tokens.items())
        attend = f"attention in layers {named_numbers(about.layers)}"
        layers = f"{n_layers} layers" if about.n_layers == n_layers else attend
        st.caption(plain(f"{tokens}, {layers}, {about.n_heads} heads."))


def _of(side: str, seen: HeadPicture) -> str:
    """The side that tokens are of, where there are two."""
    return f"{side} " if len(seen.tokens) > 1 else ""


def _title(name: str) -> str:
    offer = offer_of(name)
    return offer.title if offer else name


def text() -> None:
    """Where the document comes from: pasted, or a file."""
    shown = state.page()
    heading = st.container(horizontal=True, vertical_alignment="center", key="documents_heading")
    with heading:
        st.html("<h1>Long texts</h1>", width="content")
        beside = st.popover("Document: paste a text, or take a file", icon=":material/description:")
    with beside:
        shown.draw("text", placeholder="Empty: some hundred sentences of our grammar")
        if in_force().read_only:
            return
        uploading.expect()
        file = st.file_uploader("A text file (UTF-8)", type=["txt", "md"], key="documents.file")
        if file is not None and st.session_state.get("documents.taken") != file.file_id:
            st.session_state["documents.taken"] = file.file_id
            _take(file.getvalue())


def _take(raw: bytes) -> None:
    """Puts a file's text into the field, which the next run draws."""
    try:
        said = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        refuse("The file is no UTF-8 text; save it as UTF-8 and take it again.")
        return
    if len(said) > state.MOST_CHARACTERS:
        refuse(
            f"The file has {len(said):,} characters; at most {state.MOST_CHARACTERS:,} are read; "
            "take a part of it."
        )
        return
    st.session_state.document_text = said
    st.rerun(scope="fragment")


@st.fragment
def microscope() -> None:
    shown = state.page()
    taken = st.session_state.pop("document_text", None)
    if taken is not None:
        shown.put({"text": taken})
    shown.take()
    asked = state.request(shown.kept)
    try:
        work = ask(asked, this_page())
    except ValueError as error:
        show_problems([str(error), *problems()])
        return
    text()
    main, side = st.columns([3.6, 1], gap="medium")
    parts = [(side, lambda: controls(work)), (main, lambda: figure(work, asked))]
    page_parts.draw_parts(parts, again=work.done.is_set())
    if "takeaway" in st.session_state:
        from pages.documents import takeaway

        takeaway.dialog(st.session_state.pop("takeaway"), work)


def figure(work: DocumentJob, asked: DocumentRequest) -> None:
    """The map, or how far it is."""
    if not work.done.wait(0.15):
        progress(work)
        return
    show_problems([work.problem or None, *problems()])
    if work.problem == STOPPED:
        st.button("Read it again", on_click=forget, args=(this_page(),))
    if work.seen is None:
        return
    session = st.session_state
    if session.get("map_asked") != asked:  # another head or text is seen as a whole first
        session.map_asked, session.map_sent = asked, None
        if session.get("map_document") != asked.document:
            session.map_document = asked.document
            session.pop("map_window", None)
            session.pop("map_look", None)
    try:
        sent = message(work.seen)
    except GoneError:
        forget(this_page())
        st.rerun(scope="fragment")
    pattern_map.show(sent, key="pattern_map", on_act=on_act)


def message(seen: HeadPicture) -> bytes:
    """The bytes for the map: everything at first, then what has changed. Raises GoneError."""
    asked, session = seen.asked, st.session_state
    area, looked = session.get("map_window"), session.get("map_look")
    place = seen.place
    stack = f"{state.STACKS[place.stack]}, " if len(seen.stacks) > 1 else ""
    own: dict[str, Any] = {
        "token": f"{hash(asked) & 0xFFFFFFFF:x}", "range": state.page().kept["range"],
        "link": state.link(state.page().kept), "area": area,
        "about": f"{_title(asked.model)}, {stack}layer {place.layer}, head {place.head}",
        "measure": state.MEASURES[asked.measure], "without": asked.without,
    }  # fmt: skip
    if looked:
        own["looked"] = on_tiles(lambda: reading.row_and_column(seen, *looked))
    own["generation"] = generation((asked, area, looked, own["range"], session.get("map_sent")))
    if session.get("map_sent") != asked:
        session.map_sent = asked
        return reading.whole_message(seen, **own)
    from pages.shared.board.pack import pack

    tile = on_tiles(lambda: reading.window(seen, area)) if area else None
    return pack(tile=tile).message(**own)


state.page().enter()
pattern_map.load()
microscope()
