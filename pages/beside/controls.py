"""The inputs of two sides: above the board what they are, beside it what is looked at."""

from __future__ import annotations

from typing import Any

import streamlit as st

from models.contrast import knobs
from models.zoo.offers import offer_of
from pages.beside import presets, state
from pages.beside.board import on_one_grid, place_of, said
from pages.beside.seen import Seen
from pages.beside.steps import steps_of
from pages.shared import on_offer, other_models
from pages.shared.wording import plain

SIGNS = "≠ another token here, – no such token here. Grey cells are gaps."


def heading() -> None:
    """The page's name, and a button for each preset."""
    with st.container(horizontal=True, vertical_alignment="center", key="beside_heading"):
        st.html("<h1>Side by side</h1>", width="content")
        for name, given in presets.offered().items():
            st.button(plain(name), on_click=state.page().put, args=(given,), key=f"beside.preset.{name}")


def sides(seen: Seen | None) -> None:
    """What is on side A, and what differs on side B; seen: what is known of it."""
    shown = state.page()
    kept = shown.kept
    with st.container(key="beside_sides"):
        places = st.columns([1, 2.2, 1.15, 2.2], gap="small")
        shown.draw("model", places[0], then=switch_model, **_named(kept["model"]))
        offer = offer_of(kept["model"])
        reads_text = offer is None or "picture" not in offer.reads
        label = "Text of both sides" if kept["differs"] != "text" else "Text of side A"
        off = kept["differs"] == "step"
        label = "Text: a run watches its own" if off else label if reads_text else "Number of the picture"
        shown.draw("text", places[1], label=label, disabled=off)
        shown.draw("differs", places[2])
        _other(places[3], seen)


def _other(place: Any, seen: Seen | None) -> None:
    """How the second side differs."""
    shown = state.page()
    kept = shown.kept
    names = state.fields(kept)
    if kept["differs"] in knobs():
        name = kept["differs"]
        options = list(dict.fromkeys([*(seen.names if seen else ()), *filter(None, [kept[name]])]))
        first = seen.names[seen.first] if seen and seen.names else "the first that differs"
        shown.draw(name, place, options=options, placeholder=first, then=_first_frame)
        return
    if kept["differs"] == "step":
        steps = map(str, reversed(steps_of(kept["model"])))
        options = list(dict.fromkeys(["", *steps, kept["step"]]))
        shown.draw(
            "step", place, options=options, format_func=lambda step: step or "the last", then=_first_frame
        )
        return
    columns = [place] if len(names) == 1 else place.columns([1.3, 1] if names[0] == "model2" else 2)
    for name, column in zip(names, columns, strict=True):
        shown.draw(name, column, **(_named(kept[name]) if name == "model2" else {}))


def _first_frame() -> None:
    state.page().put({"frame": state.CHOSEN})


def _named(chosen: str) -> dict[str, Any]:
    names = state.models()
    names += [] if chosen in names else [chosen]
    return {"options": names, "format_func": on_offer.title}


def switch_model() -> None:
    """The other model's own text, where it reads other texts, and the text that its second side reads."""
    shown = state.page()
    offer = offer_of(shown.kept["model"])
    if offer is None:
        return
    story = offer.story
    stack = story.get("stack", "encoder.self")
    view = {"stack": stack, "layer": story.get("layer", 0), "head": story.get("head", 0)}
    shown.put(
        {"text": offer.text, "text2": second_text(offer), "with": "", "at": -1, "frame": state.CHOSEN, **view}
    )


def second_text(offer: Any) -> str:
    """Another text of a model: its own with a word changed that reverses its meaning, or another example."""
    words = offer.text.split()
    for old, new in offer.swaps.items():
        if old in words:
            return " ".join(new if word == old else word for word in words)
    texts = [each["text"] for each in offer.examples if each["text"] != offer.text]
    return str(texts[0]) if texts else str(offer.text)


def looked_at(seen: Seen | None) -> None:
    """Which head is looked at, and after which token the outputs stand."""
    shown = state.page()
    with st.container(key="beside_side"):
        if seen is not None:
            _head(seen)
        other_models.field(open_model)
        st.button("Reset", on_click=shown.reset, args=(list(shown.params),), width="stretch")
        st.caption(SIGNS)
        if seen is not None:
            notes = [seen.note, *(note for frame in seen.frames for note in _notes(frame))]
            if seen.frames[0].outputs is not None and len(seen.frames) > 1 and not has_outputs(seen):
                notes.append("Outputs are left out: at these values the model writes different answers.")
            for note in dict.fromkeys(filter(None, notes)):
                st.caption(plain(note))


def has_outputs(seen: Seen) -> bool:
    """Whether the board has outputs: of two passes, at places that are the same at all of a knob's values."""
    kept, counts = state.page().kept, seen.frames[0].counts(0)
    stack = kept["stack"] if kept["stack"] in counts else next(iter(counts))
    return kept["differs"] != "head" and place_of(on_one_grid(seen, stack), None) is not None


def _notes(frame: Any) -> list[str]:
    return [note for note in (frame.note, frame.outputs.note if frame.outputs else "") if note]


def _head(seen: Seen) -> None:
    shown = state.page()
    counts = seen.frames[0].counts(0)
    if len(counts) > 1:
        shown.draw("stack", options=list(counts), format_func=state.STACKS.__getitem__)
    layers, heads = counts.get(shown.kept["stack"], next(iter(counts.values())))
    left, right = st.columns(2)
    for name, place, count in (("layer", left, layers), ("head", right, heads)):
        # A widget cannot hold a value beyond its end; the board shows the nearest head then.
        most: dict[str, Any] = {"max_value": max(1, count - 1)} if shown.kept[name] < count else {}
        shown.draw(name, place, **most)
    outputs = seen.frames[0].outputs
    if outputs is not None and has_outputs(seen) and len(outputs.tokens) > 1:
        widest = "where values differ most" if seen.names else "where they differ most"
        names = {-1: widest} | {at: f"{at}: {said(tokens)}" for at, tokens in enumerate(outputs.tokens)}
        chosen = shown.kept["at"]
        options = list(names) + ([] if chosen in names else [chosen])
        shown.draw("at", options=options, format_func=lambda at: names.get(at, str(at)))


def open_model(name: str) -> None:
    """Puts another model on side A, where this visitor may open it; else the page says why not."""
    if other_models.can_open(name):
        state.page().put({"model": name})
        switch_model()
