"""Side by side: any two things in linked views with one cursor, and their difference."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attention_lab.models.contrast import knobs
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.pages.beside import state, static
from attention_lab.pages.beside.board import PLACE, SIGNS, board_of, on_one_grid, token_words
from attention_lab.pages.beside.takeaway import code_of
from attention_lab.pages.beside.two_sides import Comparison, queue, steps_of
from attention_lab.pages.shared import model_field, on_offer
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.browser.acts import Act
from attention_lab.pages.shared.page_parts import heading
from attention_lab.pages.shared.phrases import plain
from attention_lab.pages.shared.words import say
from attention_lab.pages.shared.work import Job, WorkPage

PAGE = WorkPage("beside", queue, "Compare again", seconds=0.3)
WHOLE = on_page.whole("Side by side", "beside", "", static.parts_of)


@st.fragment
def page() -> None:
    inputs = state.page()
    inputs.take()
    with heading("Side by side", state.PAGE):
        for name, values in state.presets().items():
            st.button(plain(say(name)), on_click=inputs.put, args=(values,), key=f"beside.preset.{name}")
    above = st.container(key="beside_sides")
    main, side = st.columns([4.2, 1], gap="medium")
    PAGE.draw(
        lambda: state.request(inputs.kept), main, figure,
        (above, lambda job: sides(job.result if job else None)), (side, controls),
        remark=lambda job: state.unchanged(job.request),
    )  # fmt: skip


def sides(comparison: Comparison | None) -> None:
    """What is on side A, and what differs on side B; comparison: what is known of it."""
    inputs = state.page()
    model, differs = inputs.kept["model"], inputs.kept["differs"]
    places = st.columns([1.35, 1.95, 1.05, 1.95], gap="small")
    inputs.draw("model", places[0], then=state.switch_model, **on_offer.menu(state.models(), model))
    offer = offer_of(model)
    reads_text = offer is None or "picture" not in offer.reads
    label = "Text of both sides" if differs != "text" else "Text of side A"
    off = differs == "step"
    label = "Text: a run watches its own" if off else label if reads_text else "Number of the picture"
    inputs.draw("text", places[1], label=label, disabled=off)
    inputs.draw("differs", places[2])
    _other(places[3], comparison)


def _other(place: Any, comparison: Comparison | None) -> None:
    """How the second side differs."""
    inputs = state.page()
    values, names = inputs.kept, state.fields(inputs.kept)
    if values["differs"] in knobs():
        (name,) = names
        known = comparison.names if comparison else ()
        options = list(dict.fromkeys([*known, *filter(None, [values[name]])]))
        first = known[comparison.first] if comparison and known else "the first that differs"
        inputs.draw(name, place, options=options, placeholder=first, then=_first_frame)
        return
    if values["differs"] == "step":
        steps = map(str, reversed(steps_of(values["model"])))
        options = list(dict.fromkeys(["", *steps, values["step"]]))
        inputs.draw(
            "step", place, options=options, format_func=lambda step: step or "the last", then=_first_frame
        )
        return
    columns = [place] if len(names) == 1 else place.columns([1.7, 1] if names[0] == "model2" else 2)
    others = [*on_offer.members(values["model"]), *state.models()]
    for name, column in zip(names, columns, strict=True):
        inputs.draw(name, column, **(on_offer.menu(others, values[name]) if name == "model2" else {}))


def _first_frame() -> None:
    state.page().put({"frame": state.CHOSEN})


def controls(job: Job | None) -> None:
    """Which head is shown of what was compared last, and after which token the outputs stand."""
    inputs = state.page()
    last = PAGE.last(job, dict(inputs.kept)) if job else None
    comparison: Comparison | None = last[1] if last else None
    with st.container(key="beside_side"):
        if comparison is not None:
            _head(comparison)
        model_field.popover(state.open_model)
        st.button("Reset", on_click=inputs.reset, args=(list(inputs.params),), width="stretch")
        st.caption(SIGNS)
        if comparison is None:
            return
        notes = comparison.notes
        has_answers = comparison.frames[0].outputs is not None and len(comparison.frames) > 1
        if has_answers and not state.has_outputs(comparison):
            notes.append("Outputs are left out: the model writes different answers.")
        for note in notes:
            st.caption(plain(say(note)))


def _head(comparison: Comparison) -> None:
    """The numbers of the head; the board shows the nearest where a model has fewer."""
    inputs = state.page()
    counts = comparison.frames[0].counts(0)
    if len(counts) > 1:
        inputs.draw("stack", options=list(counts), format_func=state.STACKS.__getitem__)
    layers, heads = counts[state.stack_of(inputs.kept, comparison)]
    layer_place, head_place = st.columns(2)
    inputs.draw("layer", layer_place, count=layers)
    inputs.draw("head", head_place, count=heads)
    outputs = comparison.frames[0].outputs
    if outputs is not None and state.has_outputs(comparison) and len(outputs.tokens) > 1:
        widest = "where values differ most" if comparison.names else "where they differ most"
        names = {-1: widest} | {
            at: f"{at}: {token_words(tokens)}" for at, tokens in enumerate(outputs.tokens)
        }
        options = list(dict.fromkeys([*names, inputs.kept["at"]]))
        inputs.draw("at", options=options, format_func=lambda at: names.get(at, str(at)))


def figure(job: Job) -> None:
    """The board; while another is computed, or where it cannot be, the last one stays."""
    inputs = state.page()
    last = PAGE.last(job, dict(inputs.kept))
    if last is None:
        return
    request, comparison, values = last
    values |= {name: inputs.kept[name] for name in (*state.PLACE_FIELDS, "layer2", "head2")}
    selection = state.selection(values, comparison)
    content = board_of(on_one_grid(comparison, selection.heads[0][0]), selection)
    frame, end = inputs.kept["frame"], max(0, len(comparison.names) - 1)
    first = float(comparison.first)
    at = None if content.scrub is None else first if frame == state.CHOSEN else float(min(frame, end))
    on_page.show(
        content, key="beside.board", on_act=on_act, part=request.differs, link=state.link(), at=at,
        usual=first, fits=True, where="Side by side",
    )  # fmt: skip
    on_page.take_away(
        "Side by side", f"beside-{request.differs}", content,
        lambda frame: code_of(request, selection, comparison, frame if content.scrub else None),
        {"model": request.model, "text": request.text, f"other {request.differs}": request.other},
        whole=WHOLE,
    )  # fmt: skip


def on_act(act: Act) -> None:
    """A press on the map chooses a head."""
    if act["type"] == "edit" and act["field"] == PLACE:
        state.choose(act["value"])


state.page().enter()
on_page.component.load()
page()
