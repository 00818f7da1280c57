"""Answers a question with the message that the stage draws."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, cast, get_type_hints

from attention_lab.models.fields import Rule, one_of, read_link, written
from attention_lab.models.interventions.edit import named_numbers
from attention_lab.models.limits import in_force
from attention_lab.models.zoo.catalogue import DEFAULT, Offer, offer_of
from attention_lab.pages.explore import (
    effect,
    head_measures,
    panel,
    payload,
    quantities,
    question,
    state,
    sums,
    sweep,
    waiting,
)
from attention_lab.pages.explore.edit_lines import heads_off
from attention_lab.pages.explore.payload import SHOWN, Body, Opened
from attention_lab.pages.explore.question import Question
from attention_lab.pages.explore.state import FURTHER, Inputs, View
from attention_lab.pages.explore.waiting import Waiting
from attention_lab.pages.shared import cache, glossary
from attention_lab.pages.shared.browser.acts import Kind, is_of

CAPTIONS = {
    "grid": "Rows are queries, columns are keys. Click a head to open it.",
    "map": "Heads with like patterns lie together. Press one to open it.",
    "difference": "What the edits added to each weight (warm) or took (cold).",
    "sweep": "What each head, position, part or path does to the output.",
    "effect": "The edits' effect on the rest of the model.",
    "sums": "How much the chosen queries look at the chosen keys.",
    "output": "How probable each output is.",
}
PLACE = ("stack", "layer", "head", "q0", "k0")
"""A head and the window of it that is shown."""
TERMS = (
    "token head query key value weight pattern score dot product softmax logit entropy channel encoder "
    "decoder self-attention cross-attention d_model d_head layer stack rollout nats KL KL divergence"
)
"""Those of the glossary that the stage speaks of, in whatever view."""


def quantity_from(act: dict[str, Any]) -> tuple[Any, ...]:
    """What the stage asked for, of which head and window."""
    show = act["show"] if act["show"] in (*FURTHER, "nearest") else FURTHER[0]
    place = asdict(question.opened_from(act))
    return (show, *(place[name] for name in PLACE))


@dataclass(frozen=True)
class Request:
    """What the stage may ask to have computed beside the trace, and the entry of the header that answers.

    kinds: of the act's fields. arguments: of the maker, from the act. The rest is as `waiting.answer_request`
    takes it.
    """

    entry: str
    maker: waiting.Maker
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    arguments: Callable[[dict[str, Any]], tuple[Any, ...]] = lambda act: tuple(act.values())
    more: dict[str, Any] = field(default_factory=dict)

    def what(self, act: Mapping[str, Any]) -> tuple[Any, ...]:
        """The maker's arguments. Raises ValueError for an act with other fields, or of other kinds."""
        given = {name: value for name, value in act.items() if name != "type"}
        if given.keys() != self.kinds.keys() or not all(
            is_of(given[n], kind) for n, kind in self.kinds.items()
        ):
            raise ValueError(NO_ACT)
        return self.arguments({name: given[name] for name in self.kinds})


NO_ACT = "No page asks for this; reload."
PLACE_KINDS: dict[str, Kind] = {"stack": str, "layer": int, "head": int, "q0": int, "k0": int}
_TYPES: dict[object, Kind] = {float: (int, float), int | None: int, tuple[int, ...]: list}
WHOLE: dict[str, Kind] = {name: _TYPES.get(kind, kind) for name, kind in get_type_hints(View).items()}
"""The state of the view, as a browser sends it."""
REQUESTS = {
    "words": Request("words", panel.known_words, more={"of": lambda inputs: inputs.model}),
    "map": Request("map", head_measures.map_message, {"stack": str}),
    "further": Request("further", quantities.head_quantity, PLACE_KINDS | {"show": str}, quantity_from),
    "repeated": Request(
        "repeated", quantities.random_token_measures,
        more={"price": quantities.price_random_tokens, "of": quantities.model_alone},
    ),
    "sums": Request("sums", sums.sums_message, {"stack": str, "queries": str, "keys": str}),
    "sweep": Request(
        "swept", sweep.run_sweep, {spec.name: WHOLE[spec.name] for spec in fields(sweep.SweepRequest)},
        more={"price": sweep.price, "tells": True},
    ),
    "written": Request(
        "written", effect.write_both, more={"price": effect.price_written, "tells": True}
    ),
    "smallest": Request(
        "smallest", effect.smallest, {"stack": str}, more={"price": effect.price_smallest, "tells": True}
    ),
}  # fmt: skip
"""By the type of the act that asks for it."""


def body_of(inputs: Inputs, opened: Opened, wait: Waiting) -> Body:
    """The trace of `inputs` as the stage gets it. Raises ValueError with a sentence where there is none.

    In a class, a process of its own computes what is expensive, so that nobody else waits for it.
    """
    offer = offer_of(inputs.model)
    key = (inputs, opened, offer.stamp if offer else None)
    body = waiting.computed(
        cache.payloads, key, lambda body: body.packed.size,
        inputs, None, wait, payload.body_of_inputs, inputs, opened, progress=wait.note_layers,
    )  # fmt: skip
    return cast(Body, body)


def answer(asked: Question, wait: Waiting) -> bytes:
    """The message that answers a question. Raises ValueError, with a sentence, where nothing can be shown."""
    return answered(asked, wait)[1]


def answered(
    asked: Question, wait: Waiting, refused: Sequence[str] = (), *, from_behind: bool = False
) -> tuple[Inputs, bytes]:
    """Returns the inputs that are shown and the message that answers a question, as `answer` does.

    refused: what was wrong with the address that the question came from, to be said beside the picture.
    """
    inputs, followed = question.inputs_of(asked)
    inputs, lacking = question.wider(asked, inputs)
    if asked.write:
        inputs = question.continued(inputs, asked.write)
    offer = offer_of(inputs.model)
    assert offer is not None
    opened = question.opened_by(asked, offer)
    body = body_of(inputs, opened, wait)
    linked, refusals = _checked_view(asked.link, body)
    if refusals:  # then another head is open
        opened = question.opened_by(asked.model_copy(update={"link": linked}), offer)
        body = body_of(inputs, opened, wait)
    view = read_link(View, linked)[0]
    beside = {}
    for act in asked.beside:
        name = str(act.get("type"))
        if name not in REQUESTS:
            raise ValueError(NO_ACT)
        request = REQUESTS[name]
        what = request.what(act)
        beside[request.entry] = waiting.answer_request(
            name, inputs, what, wait, request.maker, **request.more
        )
    declared: dict[str, Any] = {}
    if asked.has != _version(offer):
        models = panel.offered_models(offer)
        controls = panel.declaration(offer, models, opens_others=not in_force().kiosk)
        declared = {"controls": controls, "has": _version(offer)}
    terms = glossary.found_in(TERMS, offer.taught, body.special)
    return inputs, body.packed.message(
        **own_header(inputs, body, offer), **beside, **declared,
        asked=asked_of(inputs),
        linked=view, fromBehind=from_behind, viewToken=f"{inputs.model}.{asked.anew}",
        sizes=panel.stops(inputs, asked.keeps), followed=followed, standing=panel.standing(inputs),
        notes=panel.notes(inputs, body, lacking), problems=[*map(as_sentence, refused), *refusals],
        abilities=body.abilities, terms=glossary.sentences(terms),
    )  # fmt: skip


def asked_of(inputs: Inputs) -> dict[str, Any]:
    """The inputs, as a browser asks for them again."""
    return {
        "model": inputs.model,
        "text": inputs.text,
        "settings": inputs.settings,
        "edits": inputs.edits,
    }


def _version(offer: Offer) -> str:
    return f"{offer.name} {offer.stamp}"


def usual_questions(asked: Question) -> list[Question]:
    """The questions that are tried where one is refused: its text, its model's own, the first model's."""
    same_text = Question(model=asked.model, text=asked.text, link=asked.link, has=asked.has)
    return [same_text, Question(model=asked.model, has=asked.has), Question(model=DEFAULT, has=asked.has)]


def as_sentence(message: str) -> str:
    """A message as prose; a name at its start, such as d_model=100 or encoder.0, keeps its first letter."""
    is_name = re.match(r"\S*(=|\w\.\w)", message)
    start = message[:1] if is_name else message[:1].upper()
    return start + message[1:].removesuffix(".") + "."


def _checked_view(link: dict[str, str], body: Body) -> tuple[dict[str, str], list[str]]:
    """What a link asks of the view that its trace has, and a sentence for each value that it has not."""
    values, refusals = read_link(View, link)
    for name, rule in rules_of(body, values.get("stack")):
        if name in values and not rule.fits(values[name]):
            refusals.append(
                f"The link's {name}={written(values.pop(name))} is not {rule}; its default is shown."
            )
    return {name: link[name] for name in values}, refusals


def rules_of(body: Body, stack_id: str | None) -> list[tuple[str, Rule]]:
    """The fields of a view that depend on the trace and on the stack that is open, each with its rule."""
    stacks = body.stacks
    stack = next((s for s in stacks if s.id == stack_id), stacks[0])
    layers = stack.attention.layers
    counts = {"layer": 1 + max(layers), "head": stack.n_heads, "heads": stack.n_heads}
    counts |= {"step": max(1, body.n_steps)}
    counts |= {"query": stack.n_query, "key": stack.n_key, "queries": stack.n_query, "keys": stack.n_key}
    attends = Rule(f"one of the layers that attend, {named_numbers(layers)}", int, lambda at: at in layers)
    hides = Rule("meant for a text without special tokens", str, lambda how: how == SHOWN or body.can_hide)
    rules = [("stack", one_of([each.id for each in stacks])), *((n, _below(counts[n])) for n in counts)]
    return [*rules, ("layer", attends), ("special", hides)]


def _below(count: int) -> Rule:
    """A number, or all of several, below a count."""

    def fits(value: Any) -> bool:
        largest = state.largest_position(value) if isinstance(value, str) else value
        return (max(largest, default=0) if isinstance(largest, tuple) else largest) < count

    return Rule(f"below {count}", int, fits)


def own_header(inputs: Inputs, body: Body, offer: Offer) -> dict[str, Any]:
    """The part of the header that belongs to this text: its link, its focus, the texts beside it."""
    label, text = panel.swap_of(inputs)
    # The example that is read; what it says holds for the model's own output, in its own direction.
    is_as_usual = all(inputs.settings[s.name] == s.default for s in offer.settings if s.of_text)
    examples = [each for each in offer.examples if is_as_usual and each["text"] == inputs.text]
    example, story_view = examples[0] if examples else {}, offer.story
    turned = [str(inputs.settings[s.name]) for s in offer.settings if s.turns]
    return {
        **standing_header(offer, body.note),
        "focus": _focus(body, story_view, example),
        "focusToken": " ".join([*turned, inputs.text]),
        "link": state.write_link(inputs),
        "edits": inputs.edits.splitlines(),
        "off": heads_off(inputs.edits),
        "swap": {"label": label, "text": text, "other": panel.other_of(inputs)},
        "beside": panel.can_stand_beside(offer),
    } | ({"see": example["see"]} if example.get("see") else {})


def standing_header(offer: Offer, note: str) -> dict[str, Any]:
    """The part of it that follows from the model alone."""
    defaults = {spec.name: spec.default for spec in fields(View)} | offer.story
    return {"defaults": defaults, "caption": CAPTIONS, "taught": _taught(offer, note)}


def _focus(body: Body, story: dict[str, Any], example: dict[str, Any]) -> dict[str, Any]:
    """Where a text opens: on its pronoun or masked word, or as the model does; an example where it says."""
    usual = {"pinned": "none"} | {name: story[name] for name in ("query", "pinned") if name in story}
    focus = body.focus or usual
    opens = example.get("opens", {})
    heads = {"heads": [opens["head"]]} if "head" in opens else {}
    return focus | ({"pinned": "query"} if "query" in opens else {}) | opens | heads


def _taught(offer: Offer, note: str) -> dict[str, str]:
    """What the model was trained for and what is to be known of its heads, and the button that opens the one
    to compare it with.
    """
    contrast = offer.contrast if panel.contrast_of(offer) else {"label": "", "model": ""}
    return {"text": f"{offer.taught} {note}".strip(), **contrast}
