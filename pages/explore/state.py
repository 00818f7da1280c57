"""Chosen positions of a text as a link writes them: 0-3.7 is 0, 1, 2, 3 and 7."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from attention_lab.models.fields import (
    Field,
    Rule,
    characters,
    checked,
    number,
    one_of,
    read_link,
    setting,
    text,
    whole,
    written,
)
from attention_lab.models.zoo.catalogue import (
    DEFAULT,
    HUB,
    MAX_CHARACTERS,
    OWN,
    RUN,
    Setting,
    offer_of,
    offers,
)
from attention_lab.pages.explore import own_files
from attention_lab.pages.shared import on_offer
from attention_lab.viz_core.measures import MEASURES
from attention_lab.viz_core.viewer.program import OFFERED

_WRITTEN = re.compile(r"\d{1,6}(-\d{1,6})?(\.\d{1,6}(-\d{1,6})?)*")


def positions_rule(most: int) -> Rule:
    """Positions up to `most`; an empty text leaves them open."""
    words = f"positions from 0 to {most:,} like 0-3.7, each range from its first to its last"

    def fits(written: str) -> bool:
        is_written = not written or bool(_WRITTEN.fullmatch(written))
        return is_written and all(first <= last <= most for first, last in _ranges(written))

    return text(words, lambda raw: checked(raw, fits))


def _ranges(written: str) -> list[tuple[int, int]]:
    ends = (part.split("-") for part in written.split(".") if part)
    return [(int(each[0]), int(each[-1])) for each in ends]


def largest_position(written: str) -> int:
    """The largest position that is written; 0 where none is."""
    return max((last for _, last in _ranges(written)), default=0)


def positions_within(written: str, count: int) -> list[int]:
    """The positions below `count`, each once, in order."""
    chosen = bytearray(count)  # ranges may lie over each other, as many as a message holds
    for first, last in _ranges(written):
        stop = min(last + 1, count)
        chosen[first:stop] = b"\1" * max(0, stop - first)
    return [at for at in range(count) if chosen[at]]


# What a link to Explore holds: the inputs that the server computes from, and the view in the browser.

SHOWCASE = offers()[DEFAULT].text
MAX_INDEX = 4_096
MAX_EDITS = 4_000
"""Characters of all edits together."""
MAX_PLACE = 60
"""Characters of one head's place."""
VIEWS = tuple(OFFERED["view"]["options"])
STACKS = ("encoder.self", "decoder.self", "decoder.cross")
FURTHER = ("length", "rollout", "flow", "plane")
"""Quantities that are computed when the stage asks for them."""
MOVED = "moved"
"""How far the edits moved a head's pattern: a measure that there is only beside a pass without them."""
SORTS = ("layer", *(measure.name for measure in MEASURES), MOVED)
MOST_KEPT = 1_000_000


def offered(name: str, default: str = "") -> Any:
    """A field of the view that view.toml declares; by default its first option is the default."""
    options = tuple(OFFERED[name]["options"])
    return setting(default or options[0], one_of(options), OFFERED[name]["label"])


def _are_heads(value: Any) -> bool:
    return isinstance(value, tuple) and all(INDEX.fits(head) for head in value)


MODEL = Rule(
    "one of translator, untrained, another model's name, run:<its id>, hf:<its name> or own:<its name>",
    lambda raw: checked(
        raw, lambda name: name in offers() or any(p.fullmatch(name) for p in (RUN, HUB, OWN))
    ),
    lambda name: isinstance(name, str) and on_offer.may_open(name),
)
INDEX = whole(0, MAX_INDEX)
POSITIONS = positions_rule(MAX_INDEX)
EARLIER = {"distance": "mean_distance"}
"""How earlier links call a measure."""
SORT = replace(one_of(SORTS), read=lambda raw: one_of(SORTS).read(EARLIER.get(raw, raw)))
HEADS = Rule(
    "head numbers separated by dots, such as 0.2.3",
    lambda raw: checked(tuple(sorted({int(part) for part in raw.split(".")})), _are_heads),
    _are_heads,
)


CHOOSE = "Trained for this app, by you, or elsewhere; untrained reads any words."
COMMON = {
    "model": Field(DEFAULT, MODEL, "Model", CHOOSE, "list"),
    "text": Field(SHOWCASE, characters(MAX_CHARACTERS)),
    "edits": Field("", characters(MAX_EDITS)),
}


@dataclass(frozen=True, init=False)
class Inputs:
    """The server's inputs: the model, its text, those of its settings that differ from the defaults, and what
    is edited in its pass, a line each.
    """

    model: str
    text: str
    overrides: tuple[tuple[str, Any], ...]
    edits: str

    def __init__(self, model: str = DEFAULT, text: str = SHOWCASE, edits: str = "", **settings: Any) -> None:
        """Settings that the model does not have are ignored."""
        values = ((s.name, settings.get(s.name, s.default)) for s in settings_of(model))
        usual = {s.name: s.default for s in settings_of(model)}
        overrides = tuple(s for s in values if s[1] != usual[s[0]])
        vars(self).update(model=model, text=text, overrides=overrides, edits=edits)

    @property
    def unedited(self) -> "Inputs":
        """The same without edits."""
        return Inputs(self.model, self.text, **self.settings)

    @property
    def settings(self) -> dict[str, Any]:
        """The value of each of the model's settings."""
        return {s.name: s.default for s in settings_of(self.model)} | dict(self.overrides)

    @property
    def reading(self) -> dict[str, Any]:
        """Those settings with which the model reads, where they differ from the defaults, and those that it
        would guess.
        """
        settings, overrides = settings_of(self.model), dict(self.overrides)
        names = {s.name for s in settings if not s.builds and (s.guessed or s.name in overrides)}
        return {name: value for name, value in self.settings.items() if name in names}


@dataclass(frozen=True)
class View:
    """The view of the trace, which the browser changes without asking the server.

    level: how much is seen of it; beat: of the story, from 1.
    sort: the measure by which heads are labelled, in the `order` of their values or of their layers, and
    told apart: `keep` says which pass, those of at least or at most `limit`, or so many from the top.
    words: whether lines join the pieces of a word. when: what is seen of a pass that was edited.
    queries, keys: those of sums; left open, all queries and the marked key.
    sweep: of what, with an eye to which `goal` at the step; what is `put` in place of a head, or the `other`
    text; of a path the sender, such as "encoder.0.self heads 2", the receiver, and `through` what it goes.
    """

    level: str = offered("level")
    view: str = offered("view", "lines")
    beat: int = setting(1, whole(1, 5))
    stack: str = setting("encoder.self", one_of(STACKS))
    layer: int = setting(0, INDEX)
    head: int = setting(0, INDEX)
    heads: tuple[int, ...] = setting((), HEADS)
    show: str = offered("show")
    range: str = offered("range")
    sort: str = setting("layer", SORT)
    order: str = offered("order")
    keep: str = offered("keep")
    limit: float = setting(0.5, number(0, MOST_KEPT))
    sight: str = offered("sight")
    special: str = offered("special")
    words: str = offered("words")
    when: str = offered("when")
    step: int | None = setting(None, INDEX)
    query: int | None = setting(None, INDEX)
    key: int | None = setting(None, INDEX)
    pinned: str = setting("none", one_of(("none", "query", "key")))
    queries: str = setting("", POSITIONS)
    keys: str = setting("", POSITIONS)
    over: str = offered("over")
    sweep: str = offered("sweep")
    goal: str = offered("goal")
    put: str = offered("put")
    other: str = setting("", characters(MAX_CHARACTERS))
    sender: str = setting("", characters(MAX_PLACE))
    receiver: str = setting("", characters(MAX_PLACE))
    through: str = offered("through")
    q0: int = setting(0, INDEX)
    k0: int = setting(0, INDEX)


def view_of(act: Mapping[str, Any]) -> dict[str, Any]:
    """The state of the view that the browser sends with a wish, without what no view can have."""
    texts = {name: written(tuple(v) if isinstance(v, list) else v) for name, v in act.items()}
    return read_link(View, texts)[0]


def settings_of(model: str) -> tuple[Setting, ...]:
    """The settings of a model; () where there is no such model."""
    offer = offer_of(model)
    return () if offer is None else offer.settings


def declared(model: str) -> dict[str, Field]:
    """The inputs of a model: which it is, its text, and its settings."""
    offer = offer_of(model) or offers()[DEFAULT]
    rule = own_files.PICTURE_RULE if offer.reads == "any picture" else COMMON["text"].rule
    prose = offer.reads == "prose"
    more = {"height": 68} if prose else {"placeholder": "Type a sentence"}
    text = Field(offer.text, rule, offer.label, control="area" if prose else "line", more=more)
    return COMMON | {"text": text} | {setting.name: setting for setting in offer.settings}


def write_link(inputs: Inputs) -> dict[str, str]:
    """The query parameters that describe `inputs`: what differs from the defaults; its text always where the
    model opens with a text of its own.
    """
    offer = offer_of(inputs.model)
    own_text = offer is None or offer.memory != DEFAULT
    common = {"model": inputs.model} if inputs.model != DEFAULT else {}
    reads = offer is None or offer.reads != "nothing"
    if reads and (own_text or inputs.text != SHOWCASE):
        common["text"] = inputs.text
    if inputs.edits:
        common["edits"] = inputs.edits
    return common | {name: str(value) for name, value in inputs.overrides}
