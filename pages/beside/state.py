"""What a link to two sides holds, the inputs on the page, and the presets: the first side, what differs on
the second, and which head is shown.
"""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from models.contrast import knobs
from models.fields import SHOWN, Field, Rule, characters, one_of, text, whole
from models.limits import in_force
from models.zoo.offers import DEFAULT, offer_of, offers
from pages.beside.board import Selection, on_one_grid, place_of, token_words
from pages.beside.comparison import Comparison, ComparisonRequest, Frame, Head, steps_of
from pages.shared import model_field, on_offer
from pages.shared.state import State, refuse
from pages.shared.training import runs
from pages.shared.wording import plain

PAGE = "beside"
MOST_TEXT = in_force().field_characters
MOST_VALUE = 40
TEXT = offers()[DEFAULT].text
OTHER_TEXT = TEXT.replace("tired", "wide")
SECOND = "translator-plain"
STACKS = {"encoder.self": "encoder", "decoder.self": "decoder", "decoder.cross": "cross"}
MATCHES = {"number": "same number", "likeness": "most alike"}
MOST = 4_096
CHOSEN = -1
"""Stands for the frame of the value that is chosen."""
DIFFERENCES = {
    "text": "another text", "model": "another model", "step": "another step of training",
    "head": "another head",
}  # fmt: skip
OF = {"text": ("text2",), "model": ("model2", "matched"), "step": ("step",), "head": ("layer2", "head2")}
"""The inputs of each difference; a knob has one, of its own name."""
FIRST = ("model", "text", "with")
PLACE_FIELDS = ("stack", "layer", "head", "at")


def page() -> State:
    return State(PAGE, _params())


@cache
def _params() -> dict[str, Field]:
    kinds = DIFFERENCES | {name: f"one knob: {knob.title.lower()}" for name, knob in knobs().items()}
    index = whole(0, MOST)
    params = {
        "model": Field(DEFAULT, _model_rule(), "Model", control="list"),
        "text": Field(TEXT, characters(MOST_TEXT), "Text"),
        "with": Field("", characters(MOST_TEXT)),
        "differs": Field("text", one_of(kinds), "What differs on side B"),
        "text2": Field(OTHER_TEXT, characters(MOST_TEXT), "Text of side B"),
        "model2": Field(SECOND, _model_rule(), "Model of side B", control="list"),
        "matched": Field("number", one_of(MATCHES), "Its head"),
        "step": Field("", _step_rule(), "Step of side A", control="list"),
        "layer2": Field(0, index, "Layer of side B", control="count"),
        "head2": Field(0, index, "Head of side B", control="count"),
        "stack": Field("encoder.self", one_of(STACKS), "Attention"),
        "layer": Field(1, index, "Layer", control="count"),
        "head": Field(3, index, "Head", control="count"),
        "at": Field(-1, whole(-1, MOST), "Outputs after", control="list"),
        "frame": Field(CHOSEN, whole(CHOSEN, MOST)),
    }
    for name, knob in knobs().items():
        more = {"accept_new_options": True}  # empty: the first that is not its own
        params[name] = Field("", characters(MOST_VALUE), "Value on side B", knob.help, "list", more=more)
    return params


def _step_rule() -> Rule:
    rule = whole(0, 10**11)
    return text(rule.words, lambda raw: str(rule.read(raw)) if raw else raw)


def may_be(name: Any) -> bool:
    """Whether a model of this name reads something and can be opened here."""
    if not isinstance(name, str) or not on_offer.may_open(name):
        return False
    offer = offer_of(name)
    return offer is not None and offer.reads not in ("nothing", "any picture")


def _model_rule() -> Rule:
    def read(raw: str) -> str:
        if not may_be(raw):
            raise ValueError(raw)
        return raw

    said = "the name of a model that reads and is on offer here, or run:<its id>, or hf:<a model here>"
    return Rule(said, read, may_be)


def models() -> list[str]:
    """The models to choose from, with the runs that Explore can open."""
    listed = [f"run:{run.id}" for run in runs.every() if not run.shipped]
    names = [*on_offer.models(), *on_offer.of_transformers(), *listed]
    return [name for name in dict.fromkeys(names) if may_be(name)]


def fields(kept: dict[str, Any]) -> tuple[str, ...]:
    """The inputs of the difference that is chosen."""
    return OF.get(kept["differs"], (kept["differs"],))


def link() -> dict[str, str]:
    inputs = page()
    return inputs.link((*FIRST, "differs", *fields(inputs.kept), *PLACE_FIELDS))


def settings(kept: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The settings of the first side's model that a link brought, as Explore writes them."""
    offer = offer_of(kept["model"])
    known = {each.name: each for each in offer.settings} if offer else {}
    values: dict[str, Any] = {}
    pairs = parse_qsl(kept["with"])
    for name, raw in pairs:
        if name not in known:
            refuse(f"The link's with={name!r} is no setting of this model; it is left out.")
            continue
        try:
            values[name] = known[name].rule.parsed(raw)
        except ValueError:
            refuse(f"The link's {name}={raw[:SHOWN]!r} is not {known[name].rule}; its default is taken.")
    if len(values) < len(pairs):  # said once
        page().put({"with": urlencode(values)})
    return tuple(values.items())


def request(kept: dict[str, Any]) -> ComparisonRequest:
    """The comparison that the inputs describe."""
    differs = kept["differs"]
    name = fields(kept)[0]
    other = "" if differs == "head" else str(kept[name])
    second = kept["model2"] if differs == "model" else kept["model"]
    stamps = tuple(offer.stamp if (offer := offer_of(each)) else 0 for each in (kept["model"], second))
    return ComparisonRequest(
        kept["model"], kept["text"], settings(kept), differs, other, (stamps[0], stamps[1]),
        differs == "model" and kept["matched"] == "likeness",
    )  # fmt: skip


def selection(kept: dict[str, Any], comparison: Comparison) -> Selection:
    """What is looked at of a comparison, as near to the inputs as it has it."""
    counts = comparison.frames[0].counts(0)
    stack = kept["stack"] if kept["stack"] in counts else next(iter(counts))
    first = nearest((stack, kept["layer"], kept["head"]), comparison.frames[0], 0)
    compares, knob = kept["differs"] == "head", knobs().get(kept["differs"])
    second = (stack, kept["layer2"], kept["head2"]) if compares else comparison.matches.get(first, first)
    if knob is None:
        second = nearest(second, comparison.frames[0], 1)
    at = None if kept["at"] < 0 else kept["at"]
    return Selection((first, second), side_names(kept), at, knob.title if knob else "step", compares)


def unchanged(request: ComparisonRequest) -> str:
    """A sentence where nothing differs yet; "" where something may."""
    if request.differs == "text" and request.text == request.other:
        return "Both sides read the same text; change a word on side B, or choose what else differs."
    if request.differs == "model" and request.model == request.other and not request.settings:
        return "Both sides are the same model; choose another on side B."
    return ""


def choose(raw: str) -> None:
    """Takes the head that was pressed on the map: of side A, or of side B where heads are compared."""
    inputs = page()
    layer, _, head = raw.partition(".")
    if not (layer.isdecimal() and head.isdecimal() and max(len(layer), len(head)) < 5):
        refuse(f"{raw[:40]!r} is not a layer and a head; the head before it is kept.")
        return
    names = ("layer2", "head2") if inputs.kept["differs"] == "head" else ("layer", "head")
    inputs.put(dict(zip(names, (int(layer), int(head)), strict=True)))


def nearest(head: Head, frame: Frame, side: int) -> Head:
    """The head, or the last where there are fewer, in the nearest layer that attends."""
    stack, layer, number = head
    _, heads = frame.counts(side).get(stack, (1, 1))
    layers = frame.layers(side, stack) or [0]
    return stack, min(layers, key=lambda at: abs(at - layer)), min(number, heads - 1)


def side_names(kept: dict[str, Any]) -> tuple[str, str]:
    """The two sides in a few words."""
    differs = kept["differs"]
    knob = knobs().get(differs)
    if knob:
        return "as it is", f"{knob.title.lower()} changed"
    if differs == "model":
        first, second = (on_offer.title(kept[name]).removeprefix("run: ") for name in ("model", "model2"))
        return first, second
    if differs == "text":
        return "first text", "second text"
    return ("one step", "another step") if differs == "step" else ("one head", "another head")


LOOK = ("stack", "layer", "head", "at")
USUAL = {"model": DEFAULT, "text": TEXT, "with": "", "frame": CHOSEN, "at": -1}
PRESETS: dict[str, dict[str, Any]] = {
    "tired or wide": {"differs": "text", "text2": OTHER_TEXT, "layer": 1, "head": 3},
    "colder, hotter": {"differs": "temperature", "temperature": "0.5", "layer": 0, "head": 0},
    "taught pronouns or not": {"differs": "model", "model2": SECOND, "matched": "likeness"},
    "float32 or int8": {"differs": "format", "format": "int8"},
    "a head that forms": {
        "model": "induction", "text": offers()["induction"].text, "differs": "step", "step": "",
        "stack": "decoder.self", "layer": 1, "head": 0,
    },
}  # fmt: skip


def presets() -> dict[str, dict[str, Any]]:
    """What each press sets, of those whose models are on offer here."""
    wholes: dict[str, dict[str, Any]] = {
        name: USUAL | {"stack": "encoder.self"} | given for name, given in PRESETS.items()
    }
    return {
        name: given
        for name, given in wholes.items()
        if all(on_offer.may_open(given[key]) for key in ("model", "model2") if key in given)
    }


SIGNS = "≠ another token here, – no such token here. Grey cells are gaps."


def heading() -> None:
    """The page's name, and a button for each preset."""
    with st.container(horizontal=True, vertical_alignment="center", key="beside_heading"):
        st.html("<h1>Side by side</h1>", width="content")
        for name, given in presets().items():
            st.button(plain(name), on_click=page().put, args=(given,), key=f"beside.preset.{name}")


def sides(comparison: Comparison | None) -> None:
    """What is on side A, and what differs on side B; seen: what is known of it."""
    inputs = page()
    kept = inputs.kept
    with st.container(key="beside_sides"):
        places = st.columns([1, 2.2, 1.15, 2.2], gap="small")
        inputs.draw("model", places[0], then=switch_model, **_named(kept["model"]))
        offer = offer_of(kept["model"])
        reads_text = offer is None or "picture" not in offer.reads
        label = "Text of both sides" if kept["differs"] != "text" else "Text of side A"
        off = kept["differs"] == "step"
        label = "Text: a run watches its own" if off else label if reads_text else "Number of the picture"
        inputs.draw("text", places[1], label=label, disabled=off)
        inputs.draw("differs", places[2])
        _other(places[3], comparison)


def _other(place: Any, comparison: Comparison | None) -> None:
    """How the second side differs."""
    inputs = page()
    kept = inputs.kept
    names = fields(kept)
    if kept["differs"] in knobs():
        name = kept["differs"]
        options = list(
            dict.fromkeys([*(comparison.names if comparison else ()), *filter(None, [kept[name]])])
        )
        first = (
            comparison.names[comparison.first]
            if comparison and comparison.names
            else "the first that differs"
        )
        inputs.draw(name, place, options=options, placeholder=first, then=_first_frame)
        return
    if kept["differs"] == "step":
        steps = map(str, reversed(steps_of(kept["model"])))
        options = list(dict.fromkeys(["", *steps, kept["step"]]))
        inputs.draw(
            "step", place, options=options, format_func=lambda step: step or "the last", then=_first_frame
        )
        return
    columns = [place] if len(names) == 1 else place.columns([1.3, 1] if names[0] == "model2" else 2)
    for name, column in zip(names, columns, strict=True):
        inputs.draw(name, column, **(_named(kept[name]) if name == "model2" else {}))


def _first_frame() -> None:
    page().put({"frame": CHOSEN})


def _named(chosen: str) -> dict[str, Any]:
    names = models()
    names += [] if chosen in names else [chosen]
    return {"options": names, "format_func": on_offer.title}


def switch_model() -> None:
    """The other model's own text, where it reads other texts, and the text that its second side reads."""
    inputs = page()
    offer = offer_of(inputs.kept["model"])
    if offer is None:
        return
    story = offer.story
    stack = story.get("stack", "encoder.self")
    view = {"stack": stack, "layer": story.get("layer", 0), "head": story.get("head", 0)}
    inputs.put(
        {"text": offer.text, "text2": second_text(offer), "with": "", "at": -1, "frame": CHOSEN, **view}
    )


def second_text(offer: Any) -> str:
    """Another text of a model: its own with a word changed that reverses its meaning, or another example."""
    words = offer.text.split()
    for old, new in offer.swaps.items():
        if old in words:
            return " ".join(new if word == old else word for word in words)
    texts = [each["text"] for each in offer.examples if each["text"] != offer.text]
    return str(texts[0]) if texts else str(offer.text)


def head_controls(comparison: Comparison | None) -> None:
    """Which head is looked at, and after which token the outputs stand."""
    inputs = page()
    with st.container(key="beside_side"):
        if comparison is not None:
            _head(comparison)
        model_field.field(open_model)
        st.button("Reset", on_click=inputs.reset, args=(list(inputs.params),), width="stretch")
        st.caption(SIGNS)
        if comparison is not None:
            notes = [comparison.note, *(note for frame in comparison.frames for note in _notes(frame))]
            if (
                comparison.frames[0].outputs is not None
                and len(comparison.frames) > 1
                and not has_outputs(comparison)
            ):
                notes.append("Outputs are left out: at these values the model writes different answers.")
            for note in dict.fromkeys(filter(None, notes)):
                st.caption(plain(note))


def has_outputs(comparison: Comparison) -> bool:
    """Whether the board has outputs: of two passes, at places that are the same at all of a knob's values."""
    kept, counts = page().kept, comparison.frames[0].counts(0)
    stack = kept["stack"] if kept["stack"] in counts else next(iter(counts))
    return kept["differs"] != "head" and place_of(on_one_grid(comparison, stack), None) is not None


def _notes(frame: Any) -> list[str]:
    return [note for note in (frame.note, frame.outputs.note if frame.outputs else "") if note]


def _head(comparison: Comparison) -> None:
    inputs = page()
    counts = comparison.frames[0].counts(0)
    if len(counts) > 1:
        inputs.draw("stack", options=list(counts), format_func=STACKS.__getitem__)
    layers, heads = counts.get(inputs.kept["stack"], next(iter(counts.values())))
    left, right = st.columns(2)
    for name, place, count in (("layer", left, layers), ("head", right, heads)):
        # A widget cannot hold a value beyond its end; the board shows the nearest head then.
        most: dict[str, Any] = {"max_value": max(1, count - 1)} if inputs.kept[name] < count else {}
        inputs.draw(name, place, **most)
    outputs = comparison.frames[0].outputs
    if outputs is not None and has_outputs(comparison) and len(outputs.tokens) > 1:
        widest = "where values differ most" if comparison.names else "where they differ most"
        names = {-1: widest} | {
            at: f"{at}: {token_words(tokens)}" for at, tokens in enumerate(outputs.tokens)
        }
        chosen = inputs.kept["at"]
        options = list(names) + ([] if chosen in names else [chosen])
        inputs.draw("at", options=options, format_func=lambda at: names.get(at, str(at)))


def open_model(name: str) -> None:
    """Puts another model on side A, where this visitor may open it; else the page says why not."""
    if model_field.can_open(name):
        page().put({"model": name})
        switch_model()
