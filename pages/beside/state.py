"""What a link to two sides holds, and the presets: the first side, what differs on the second, and which head
is shown.
"""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

from attention_lab.models.contrast import knobs
from attention_lab.models.fields import SHOWN, Field, characters, one_of, text, whole
from attention_lab.models.zoo.catalogue import DEFAULT, offer_of, offers
from attention_lab.pages.beside.board import STEP, Selection, on_one_grid, place_of
from attention_lab.pages.beside.two_sides import (
    Comparison,
    ComparisonRequest,
    FramePair,
    Head,
    nearest_step,
    steps_of,
)
from attention_lab.pages.shared import model_field, on_offer
from attention_lab.pages.shared.state import MOST_CHARACTERS, State, refuse
from attention_lab.pages.shared.training import runs

PAGE = "beside"
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
    index, step = whole(0, MOST), whole(0, 10**11)
    step_or_none = text(step.words, lambda raw: str(step.read(raw)) if raw else raw)
    params = {
        "model": Field(DEFAULT, MODEL, "Model", control="list"),
        "text": Field(TEXT, characters(MOST_CHARACTERS), "Text"),
        "with": Field("", characters(MOST_CHARACTERS)),
        "differs": Field("text", one_of(kinds), "What differs on side B"),
        "text2": Field(OTHER_TEXT, characters(MOST_CHARACTERS), "Text of side B"),
        "model2": Field(SECOND, MODEL, "Model of side B", control="list"),
        "matched": Field("number", one_of(MATCHES), "Its head"),
        "step": Field("", step_or_none, "Step of side A", control="list"),
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


def _reads(name: str) -> bool:
    """Whether the model of a name reads something that a person can give it."""
    offer = offer_of(name)
    return offer is not None and offer.reads not in ("nothing", "any picture")


MODEL = on_offer.model_rule(
    "the name of a model that reads and is on offer here, or run:<its id>, or hf:<its name>", _reads
)


def models() -> list[str]:
    """The models to choose from, with the runs that Explore can open."""
    own = [f"run:{run.id}" for run in runs.every() if not run.shipped]
    return [name for name in dict.fromkeys([*on_offer.listed(), *own]) if MODEL.fits(name)]


def fields(values: dict[str, Any]) -> tuple[str, ...]:
    """The inputs of the difference that is chosen."""
    return OF.get(values["differs"], (values["differs"],))


def link() -> dict[str, str]:
    inputs = page()
    return inputs.link((*FIRST, "differs", *fields(inputs.kept), *PLACE_FIELDS))


def settings(values: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The settings of the first side's model that a link brought, as Explore writes them."""
    offer = offer_of(values["model"])
    known = {each.name: each for each in offer.settings} if offer else {}
    fitting: dict[str, Any] = {}
    pairs = parse_qsl(values["with"])
    for name, raw in pairs:
        if name not in known:
            refuse(f"The link's with={name!r} is no setting of this model; it is left out.")
            continue
        try:
            fitting[name] = known[name].rule.parsed(raw)
        except ValueError:
            refuse(f"The link's {name}={raw[:SHOWN]!r} is not {known[name].rule}; its default is taken.")
    if len(fitting) < len(pairs):  # said once
        page().put({"with": urlencode(fitting)})
    return tuple(fitting.items())


def request(values: dict[str, Any]) -> ComparisonRequest:
    """The comparison that the inputs describe."""
    model, differs = values["model"], values["differs"]
    other = "" if differs == "head" else str(values[fields(values)[0]])
    second = values["model2"] if differs == "model" else model
    stamps = tuple(offer.stamp if (offer := offer_of(each)) else 0 for each in (model, second))
    return ComparisonRequest(
        model, values["text"], settings(values), differs, other, (stamps[0], stamps[1]),
        differs == "model" and values["matched"] == "likeness",
    )  # fmt: skip


def stack_of(values: dict[str, Any], comparison: Comparison) -> str:
    """The stack that is looked at: the chosen one, or the first of the model's."""
    counts = comparison.frames[0].counts(0)
    return str(values["stack"] if values["stack"] in counts else next(iter(counts)))


def selection(values: dict[str, Any], comparison: Comparison) -> Selection:
    """What is looked at of a comparison, as near to the inputs as it has it."""
    stack = stack_of(values, comparison)
    first = nearest((stack, values["layer"], values["head"]), comparison.frames[0], 0)
    compares, knob = values["differs"] == "head", knobs().get(values["differs"])
    second = (stack, values["layer2"], values["head2"]) if compares else comparison.matches.get(first, first)
    if knob is None:
        second = nearest(second, comparison.frames[0], 1)
    at = None if values["at"] < 0 else values["at"]
    return Selection((first, second), side_names(values), at, knob.title if knob else STEP, compares)


def unchanged(request: ComparisonRequest) -> str:
    """A sentence where nothing differs yet; "" where something may."""
    if request.differs == "text" and request.text == request.other:
        return "Both sides read the same text; change a word on side B, or what else differs."
    if request.differs == "model" and request.model == request.other and not request.settings:
        return "Both sides are the same model; choose another on side B."
    return ""


def choose(raw: str) -> None:
    """Takes the head that was pressed on the map: of side A, or of side B where heads are compared."""
    inputs = page()
    layer, _, head = raw.partition(".")
    if not (layer.isdecimal() and head.isdecimal() and max(len(layer), len(head)) < 5):
        refuse(f"{raw[:40]!r} is not a layer and a head; the previous head is kept.")
        return
    names = ("layer2", "head2") if inputs.kept["differs"] == "head" else ("layer", "head")
    inputs.put(dict(zip(names, (int(layer), int(head)), strict=True)))


def nearest(head: Head, frame: FramePair, side: int) -> Head:
    """The head, or the last where there are fewer, in the nearest layer that attends."""
    stack, layer, number = head
    _, heads = frame.counts(side).get(stack, (1, 1))
    layers = frame.layers(side, stack) or [0]
    return stack, min(layers, key=lambda at: abs(at - layer)), min(number, heads - 1)


def side_names(values: dict[str, Any]) -> tuple[str, str]:
    """The two sides in a few words."""
    match values["differs"]:
        case "text":
            return "first text", "second text"
        case "model":
            first, second = (
                on_offer.title(values[name]).removeprefix("run: ") for name in ("model", "model2")
            )
            return first, second
        case "step":
            return f"step {nearest_step(values['step'], steps_of(values['model'])):,}", "the slider's step"
        case "head":
            return "one head", "another head"
        case knob:
            return "as it is", f"changed: {knobs()[knob].title}"


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
    wholes = {name: USUAL | {"stack": "encoder.self"} | values for name, values in PRESETS.items()}

    def is_on_offer(values: dict[str, Any]) -> bool:
        return all(on_offer.may_open(values[key]) for key in ("model", "model2") if key in values)

    return {name: values for name, values in wholes.items() if is_on_offer(values)}


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


def open_model(name: str) -> None:
    """Puts another model on side A, where this visitor may open it; else the page says why not."""
    if model_field.can_open(name):
        page().put({"model": name})
        switch_model()


def has_outputs(comparison: Comparison) -> bool:
    """Whether the board has outputs: of two passes, at places that are the same at all of a knob's values."""
    values = page().kept
    on_grid = on_one_grid(comparison, stack_of(values, comparison))
    return values["differs"] != "head" and place_of(on_grid, None) is not None
