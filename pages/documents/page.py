"""Long texts: the microscope. Every head over a document of tens of thousands of tokens, zoomed as a map."""

from typing import Any

import streamlit as st

from attention_lab.models.interventions.edit import named_numbers
from attention_lab.models.limits import in_force
from attention_lab.pages.documents import reading, state
from attention_lab.pages.documents.component import pattern_map
from attention_lab.pages.documents.reading import GoneError, HeadPicture, queue, tiles
from attention_lab.pages.shared import on_offer
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.browser import uploading
from attention_lab.pages.shared.browser.component import Act
from attention_lab.pages.shared.page_parts import generation, heading, say_count, show_problems
from attention_lab.pages.shared.state import refuse
from attention_lab.pages.shared.wording import plain
from attention_lab.pages.shared.words import say
from attention_lab.pages.shared.work import Job, WorkPage, this_page
from attention_lab.viz_core.viewer.message import pack

PAGE = WorkPage("documents", queue, "Read it again")


def on_act(act: Act) -> None:
    """What the map asks for: another window, a row and a column, or all that it has lost."""
    session = st.session_state
    if act["type"] == "window":
        session.map_window = {name: act[name] for name in ("q0", "q1", "k0", "k1")}
    elif act["type"] == "look":
        session.map_look = (act["query"], act["key"])
    elif act["type"] == "takeaway":
        session[on_page.TAKE_AWAY] = act
    else:
        session.map_sent = None


def controls(job: Job | None) -> None:
    """The column beside the map."""
    inputs = state.page()
    inputs.draw("model", **on_offer.menu(state.readers(), inputs.kept["model"]))
    picture: HeadPicture | None = job.result if job else None
    about = picture and picture.stacks[picture.place.stack]
    if picture and len(picture.stacks) > 1:
        inputs.draw("stack")
    n_layers, n_heads = (1 + max(about.layers), about.n_heads) if about else (0, 0)
    inputs.draw("layer", count=n_layers)
    inputs.draw("head", count=n_heads)
    for name in ("measure", "range", "without"):
        inputs.draw(name)
    if picture and about:
        of = "{} " if len(picture.tokens) > 1 else ""
        counts = (f"{len(each):,} {of.format(side)}tokens" for side, each in picture.tokens.items())
        tokens = " and ".join(counts)
        attend = f"attention in layers {named_numbers(about.layers)}"
        layers = f"{n_layers} layers" if about.n_layers == n_layers else attend
        st.caption(plain(say(f"{tokens}, {layers}, {about.n_heads} heads.")))
        say_count()


def text() -> None:
    """Where the document comes from: pasted, or a file."""
    inputs = state.page()
    row = heading("Long texts", state.PAGE)
    with row.popover("Document: paste a text, or take a file", icon=":material/description:"):
        inputs.draw("text", placeholder="Empty: some hundred sentences of our grammar")
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
        content = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        refuse("The file is no UTF-8 text; save it as UTF-8 and take it again.")
        return
    if len(content) > state.MOST_CHARACTERS:
        refuse(
            f"The file has {len(content):,} characters; at most {state.MOST_CHARACTERS:,} are read; "
            "take a part of it."
        )
        return
    st.session_state.document_text = content
    st.rerun(scope="fragment")


@st.fragment
def page() -> None:
    inputs = state.page()
    from_file = st.session_state.pop("document_text", None)
    if from_file is not None:
        inputs.put({"text": from_file})
    inputs.take()
    text()
    main, side = st.columns([3.6, 1], gap="medium")
    PAGE.draw(lambda: state.request(inputs.kept), main, figure, (side, controls))


def figure(job: Job) -> None:
    """The map, once there is one."""
    if job.result is None:
        return
    request, session = job.request, st.session_state
    if session.get("map_request") != request:  # another head or text is seen as a whole first
        session.map_request, session.map_sent = request, None
        if session.get("map_document") != request.document:
            session.map_document = request.document
            session.pop("map_window", None)
            session.pop("map_look", None)
    try:
        bytes_ = message(job.result)
    except GoneError:
        queue.forget(this_page())
        st.rerun(scope="fragment")
    except ValueError as error:
        show_problems([str(error)], of="window")
        return
    pattern_map.show(bytes_, key="pattern_map", on_act=on_act)
    if on_page.wants_take_away():
        from attention_lab.pages.documents import takeaway

        takeaway.dialog(session.pop(on_page.TAKE_AWAY), job.result)


def message(picture: HeadPicture) -> bytes:
    """The bytes for the map: everything at first, then what has changed. Raises GoneError."""
    request, session = picture.request, st.session_state
    area, pair = session.get("map_window"), session.get("map_look")
    place = picture.place
    stack = f"{state.STACKS[place.stack]}, " if len(picture.stacks) > 1 else ""
    own: dict[str, Any] = {
        "token": f"{hash(request) & 0xFFFFFFFF:x}", "range": state.page().kept["range"],
        "link": state.link(state.page().kept), "area": area,
        "about": f"{on_offer.title(request.model)}, {stack}layer {place.layer} head {place.head}",
        "measure": state.MEASURES[request.measure], "without": request.without,
    }  # fmt: skip
    if pair:
        own["looked"] = tiles.run(lambda _: reading.row_and_column(picture, *pair))
    own["generation"] = generation((request, area, pair, own["range"], session.get("map_sent")))
    if session.get("map_sent") != request:
        session.map_sent = request
        return reading.whole_message(picture, **own)
    tile = tiles.run(lambda _: reading.window(picture, area)) if area else None
    return pack(tile=tile).message(**own)


state.page().enter()
pattern_map.load()
page()
