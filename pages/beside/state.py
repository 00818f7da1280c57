"""What a link to two sides holds: the first side, what differs on the second, and what is looked at."""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

from models.contrast import knobs
from models.limits import in_force
from models.zoo.offers import DEFAULT, offer_of, offers
from pages.beside.board import Chosen
from pages.beside.seen import Frame, Head, Seen
from pages.beside.working import Asked
from pages.shared import on_offer, widget
from pages.shared.link import Param, Rule, characters, one_of, text, whole
from pages.shared.state import State, refuse
from pages.shared.training import runs

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
LOOKED_AT = ("stack", "layer", "head", "at")


def page() -> State:
    return State(PAGE, _params())


@cache
def _params() -> dict[str, Param]:
    kinds = DIFFERENCES | {name: f"one knob: {knob.title.lower()}" for name, knob in knobs().items()}
    index = whole(0, MOST)
    params = {
        "model": Param(DEFAULT, _model_rule(), widget.select("Model")),
        "text": Param(TEXT, characters(MOST_TEXT), widget.line("Text")),
        "with": Param("", characters(MOST_TEXT)),
        "differs": Param("text", one_of(kinds), widget.select("What differs on side B")),
        "text2": Param(OTHER_TEXT, characters(MOST_TEXT), widget.line("Text of side B")),
        "model2": Param(SECOND, _model_rule(), widget.select("Model of side B")),
        "matched": Param("number", one_of(MATCHES), widget.select("Its head")),
        "step": Param("", _step_rule(), widget.select("Step of side A")),
        "layer2": Param(0, index, widget.count("Layer of side B")),
        "head2": Param(0, index, widget.count("Head of side B")),
        "stack": Param("encoder.self", one_of(STACKS), widget.select("Attention")),
        "layer": Param(1, index, widget.count("Layer")),
        "head": Param(3, index, widget.count("Head")),
        "at": Param(-1, whole(-1, MOST), widget.select("Outputs after")),
        "frame": Param(CHOSEN, whole(CHOSEN, MOST)),
    }
    for name, knob in knobs().items():
        shown = widget.select("Value on side B", knob.help, accept_new_options=True)
        params[name] = Param("", characters(MOST_VALUE), shown)  # empty: the first that is not its own
    return params


def _step_rule() -> Rule:
    rule = whole(0, 10**11)
    said = text(rule.said, lambda raw: str(rule.read(raw)) if raw else raw)
    return said


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
    shown = page()
    return shown.link((*FIRST, "differs", *fields(shown.kept), *LOOKED_AT))


def settings(kept: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The settings of the first side's model that a link brought, as Explore writes them."""
    offer = offer_of(kept["model"])
    known = {each.name: each for each in offer.settings} if offer else {}
    found: dict[str, Any] = {}
    given = parse_qsl(kept["with"])
    for name, raw in given:
        if name not in known:
            refuse(f"The link's with={name!r} is no setting of this model; it is left out.")
            continue
        try:
            found[name] = known[name].read(raw)
        except ValueError as error:
            refuse(f"The link's {error}; its default is taken.")
    if len(found) < len(given):  # said once
        page().put({"with": urlencode(found)})
    return tuple(found.items())


def asked(kept: dict[str, Any]) -> Asked:
    """The comparison that the inputs describe."""
    differs = kept["differs"]
    name = fields(kept)[0]
    other = "" if differs == "head" else str(kept[name])
    second = kept["model2"] if differs == "model" else kept["model"]
    stamps = tuple(offer.stamp if (offer := offer_of(each)) else 0 for each in (kept["model"], second))
    return Asked(
        kept["model"], kept["text"], settings(kept), differs, other, (stamps[0], stamps[1]),
        differs == "model" and kept["matched"] == "likeness",
    )  # fmt: skip


def chosen(kept: dict[str, Any], seen: Seen) -> Chosen:
    """What is looked at of a comparison, as near to the inputs as it has it."""
    counts = seen.frames[0].counts(0)
    stack = kept["stack"] if kept["stack"] in counts else next(iter(counts))
    first = nearest((stack, kept["layer"], kept["head"]), seen.frames[0], 0)
    compares, knob = kept["differs"] == "head", knobs().get(kept["differs"])
    second = (stack, kept["layer2"], kept["head2"]) if compares else seen.matches.get(first, first)
    if knob is None:
        second = nearest(second, seen.frames[0], 1)
    at = None if kept["at"] < 0 else kept["at"]
    return Chosen((first, second), called(kept), at, knob.title if knob else "step", compares)


def unchanged(asked: Asked) -> str:
    """A sentence where nothing differs yet; "" where something may."""
    if asked.differs == "text" and asked.text == asked.other:
        return "Both sides read the same text; change a word on side B, or choose what else differs."
    if asked.differs == "model" and asked.model == asked.other and not asked.settings:
        return "Both sides are the same model; choose another on side B."
    return ""


def choose(raw: str) -> None:
    """Takes the head that was pressed on the map: of side A, or of side B where heads are compared."""
    shown = page()
    layer, _, head = raw.partition(".")
    if not (layer.isdecimal() and head.isdecimal() and max(len(layer), len(head)) < 5):
        refuse(f"{raw[:40]!r} is not a layer and a head; the head before it is kept.")
        return
    names = ("layer2", "head2") if shown.kept["differs"] == "head" else ("layer", "head")
    shown.put(dict(zip(names, (int(layer), int(head)), strict=True)))


def nearest(head: Head, frame: Frame, side: int) -> Head:
    """The head, or the last where there are fewer, in the nearest layer that attends."""
    stack, layer, number = head
    _, heads = frame.counts(side).get(stack, (1, 1))
    layers = frame.layers(side, stack) or [0]
    return stack, min(layers, key=lambda at: abs(at - layer)), min(number, heads - 1)


def called(kept: dict[str, Any]) -> tuple[str, str]:
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
