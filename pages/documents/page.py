"""Long texts: the microscope. Every head over a document of tens of thousands of tokens, zoomed as a map."""

from typing import Any

import streamlit as st

from attention_lab.models.interventions.edit import named_numbers
from attention_lab.models.limits import in_force
from attention_lab.pages.documents import reading, state
from attention_lab.pages.documents.component import AREA, pattern_map
from attention_lab.pages.documents.reading import GoneError, HeadPicture, queue, tiles
from attention_lab.pages.shared import on_offer
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.browser import uploading
from attention_lab.pages.shared.browser.acts import Act
from attention_lab.pages.shared.page_parts import generation, heading, show_problems
from attention_lab.pages.shared.state import refuse
from attention_lab.pages.shared.work import Job, WorkPage, this_page
from attention_lab.viz_core.viewer.message import pack

PAGE = WorkPage("documents", queue, "Read it again")
WHOLE: dict[str, Any] = {"zoom": (), "pair": ()}


def on_act(act: Act) -> None:
    """What the map asks for: another window, a row and a column, or all that it has lost."""
    session = st.session_state
    if act["type"] == "window":
        state.page().edit("zoom", "{q0},{q1};{k0},{k1}".format(**act))
    elif act["type"] == "look":
        state.page().edit("pair", "{query},{key}".format(**act))
    elif act["type"] == "takeaway":
        session[on_page.TAKE_AWAY] = act
    else:
        session.map_sent = None


def controls(job: Job | None) -> None:
    """The column beside the map."""
    inputs = state.page()
    inputs.draw(
        "model", then=lambda: inputs.put(WHOLE), **on_offer.menu(state.readers(), inputs.kept["model"])
    )
    picture: HeadPicture | None = job.result if job else None
    about = picture and picture.stacks[picture.place.stack]
    if picture and len(picture.stacks) > 1:
        inputs.draw("stack")
    n_layers, n_heads = (1 + max(about.layers), about.n_heads) if about else (0, 0)
    inputs.draw("layer", count=n_layers)
    inputs.draw("head", count=n_heads)
    with st.popover("More settings", width="stretch"):
        for name in ("measure", "range", "without"):
            inputs.draw(name)
    if about and about.n_layers != n_layers:
        st.caption(f"attention in layers {named_numbers(about.layers)}")


def text() -> None:
    """Where the document comes from: pasted, or a file."""
    inputs = state.page()
    row = heading("Long texts", state.PAGE)
    with row.popover("Document: paste a text, or take a file", icon=":material/description:"):
        inputs.draw("text", then=lambda: inputs.put(WHOLE), placeholder="Empty: sentences of our grammar")
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
        refuse("The file is no UTF-8 text; save it as UTF-8.")
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
        inputs.put({"text": from_file, **WHOLE})
    inputs.take()
    text()
    main, side = st.columns([3.6, 1], gap="medium")
    PAGE.draw(lambda: state.request(inputs.kept), main, figure, (side, controls))


def figure(job: Job) -> None:
    """The map, once there is one."""
    if job.result is None:
        return
    request, session = job.request, st.session_state
    if session.get("map_request") != request:
        session.map_request, session.map_sent = request, None
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
    kept, place = state.page().kept, picture.place
    if kept["zoom"] == ((0, len(picture.queries)), (0, len(picture.keys))):
        kept["zoom"] = ()
    area = dict(zip(AREA, map(int, sum(kept["zoom"], ())), strict=True)) if kept["zoom"] else None
    stack = f"{state.STACKS[place.stack]}, " if len(picture.stacks) > 1 else ""
    own: dict[str, Any] = {
        "token": f"{hash(request) & 0xFFFFFFFF:x}", "range": kept["range"],
        "link": state.link(kept), "area": area,
        "about": f"{on_offer.title(request.model)}, {stack}layer {place.layer} head {place.head}",
        "measure": state.MEASURES[request.measure],
    }  # fmt: skip
    if kept["pair"]:
        pair = map(int, kept["pair"][0])
        own["looked"] = tiles.run(lambda _: reading.row_and_column(picture, *pair))
    own["generation"] = generation((request, area, kept["pair"], own["range"], session.get("map_sent")))
    if session.get("map_sent") != request:
        session.map_sent = request
        return reading.whole_message(picture, **own)
    tile = tiles.run(lambda _: reading.window(picture, area)) if area else None
    return pack(tile=tile).message(**own)


state.page().enter()
pattern_map.load()
page()
