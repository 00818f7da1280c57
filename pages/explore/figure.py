"""What Explore computes between its widgets and its stage."""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from itertools import chain
from typing import Any, cast

from attention_lab.models.data.tasks import Advice
from attention_lab.models.fields import Rule, one_of, read_link, written
from attention_lab.models.interventions.edit import named_numbers
from attention_lab.models.zoo.offers import Offer
from attention_lab.pages.explore import (
    controls,
    effect,
    head_measures,
    payload,
    quantities,
    state,
    sums,
    sweep,
    waiting,
)
from attention_lab.pages.explore.edit_lines import heads_off
from attention_lab.pages.explore.payload import SHOWN, Body, Opened
from attention_lab.pages.explore.state import FURTHER, Inputs, View
from attention_lab.pages.shared import cache, glossary, server_load, st
from attention_lab.pages.shared.page_parts import computed_or_last, generation
from attention_lab.pages.shared.st import DeltaGenerator
from attention_lab.pages.shared.state import guard_choice, refuse
from attention_lab.pages.shared.wording import plain

CAPTIONS = {
    "grid": "Every head: rows are queries, columns are keys. Click one to open it.",
    "map": "Every head a point: heads with like patterns lie together. Press one to open it.",
    "difference": "Every head: what the edits added to each weight (warm), and what they took (cold).",
    "sweep": "What each head, position, part or path does to the output.",
    "effect": "What the edits did to what the model computes after them.",
    "sums": "How much the chosen queries look at the chosen keys, head by head and in all.",
    "output": "The last linear layer and the softmax: how probable each output is.",
}
PLACE = ("stack", "layer", "head", "q0", "k0")
"""A head and the window of it that is shown."""
TERMS = (
    "token head query key value weight pattern score dot product softmax logit entropy channel encoder "
    "decoder self-attention cross-attention d_model d_head layer stack rollout nats KL KL divergence"
)
"""Those of the glossary that the stage speaks of, in whatever view."""


def opened_from(act: dict[str, Any]) -> Opened:
    """The head that the stage asked to open; the first one unless it named a known stack and integers."""
    values, problems = read_link(View, {name: str(act[name]) for name in asdict(Opened()) if name in act})
    return Opened() if problems else Opened(**values)


def quantity_from(act: dict[str, Any]) -> tuple[Any, ...]:
    """What the stage asked for, of which head and window."""
    show = act["show"] if act["show"] in FURTHER else FURTHER[0]
    place = asdict(opened_from(act))
    return (show, *(place[name] for name in PLACE))


@dataclass(frozen=True)
class Request:
    """What the stage may ask to have computed beside the trace, and the entry of the header that answers.

    arguments: of the maker, from the act. The rest is as `waiting.answer_request` takes it.
    """

    entry: str
    maker: waiting.Maker
    arguments: Callable[[dict[str, Any]], tuple[Any, ...]]
    more: dict[str, Any] = field(default_factory=dict)


REQUESTS = {
    "map": Request("map", head_measures.map_message, lambda act: (act["stack"],)),
    "further": Request("further", quantities.head_quantity, quantity_from),
    "repeated": Request(
        "repeated", quantities.random_token_measures, lambda act: (),
        {"price": quantities.price_random_tokens, "of": quantities.model_alone},
    ),
    "sums": Request("sums", sums.sums_message, lambda act: (act["stack"], act["queries"], act["keys"])),
    "sweep": Request(
        "swept", sweep.run_sweep, lambda act: tuple(act[spec.name] for spec in fields(sweep.SweepRequest)),
        {"price": sweep.price, "tells": True},
    ),
    "written": Request(
        "written", effect.write_both, lambda act: (), {"price": effect.price_written, "tells": True}
    ),
    "smallest": Request(
        "smallest", effect.smallest, lambda act: (act["stack"],),
        {"price": effect.price_smallest, "tells": True},
    ),
}  # fmt: skip
"""By the type of the act that asks for it."""


def body_of(inputs: Inputs, opened: Opened, slot: DeltaGenerator | None = None) -> Body:
    """The trace of `inputs` as the stage gets it. Raises ValueError with a sentence where there is none.

    In a class, a process of its own computes what is expensive, so that nobody else waits for it.
    slot: where that is said meanwhile.
    """
    key = (inputs, opened, controls.offer(inputs.model).stamp)
    known = cache.payloads.get(key)
    if known is not None:
        return cast(Body, known)
    with waiting.waiting_for(inputs, slot) as wait:

        def make() -> tuple[Body, int]:
            server_load.check_memory()
            body = payload.body_of_inputs(inputs, opened, wait.note_layers)
            return body, body.packed.size

        if not waiting.is_dear(inputs):
            return cast(Body, cache.cached(cache.payloads, key, make, wait.check))
        known = waiting.runner(inputs, is_wanted=wait.check)(payload.body_of_inputs, inputs, opened)
    cache.payloads.put(key, known, known.packed.size)
    return cast(Body, known)


@dataclass(frozen=True)
class Figure:
    """The stage's bytes, a sentence if the widgets ask for the impossible, what would suit the text better,
    unknown words, what the model is able to do, and the terms of the glossary that the stage speaks of.
    """

    payload: bytes | None
    problem: str | None = None
    advice: Advice | None = None
    unknown: list[dict[str, Any]] = field(default_factory=list)
    abilities: tuple[str, ...] = ()
    terms: Mapping[str, str] = field(default_factory=dict)


def figure_of_widgets(slot: DeltaGenerator | None = None) -> Figure:
    """What the widgets ask for, computed; where that is impossible, the last inputs that were possible.

    slot: where it is said that a dear figure is computed.
    """
    inputs = controls.inputs_now()
    waiting.forget_stopped(inputs)
    usual = (Inputs(inputs.model, controls.offer(inputs.model).text), Inputs())
    try:
        latest = computed_or_last("explore", inputs, usual, partial(_computed, slot))
    except ValueError as error:
        return Figure(None, _as_sentence(str(error)))
    body = latest.value
    st.session_state.last_target = "".join(part["text"] for part in body.translation)
    terms = glossary.found_in(TERMS, controls.offer(latest.inputs.model).taught, body.special)
    own = own_header(latest.inputs, body) | {
        request.entry: waiting.answer_request(kind, latest.inputs, slot, request.maker, **request.more)
        for kind, request in REQUESTS.items()
    }  # what the stage asked for beside the trace
    packed = body.packed.message(**own, terms=glossary.sentences(terms))
    if latest.problem:
        problem = _as_sentence(latest.problem)
        if latest.inputs.model != inputs.model:
            problem += f" The figure below is of {controls.offer(latest.inputs.model).title}."
        return Figure(packed, problem, abilities=body.abilities, terms=terms)
    return Figure(packed, None, body.advice, body.unknown, body.abilities, terms)


def _computed(slot: DeltaGenerator | None, inputs: Inputs) -> Body:
    body = body_of(inputs, _opened(inputs), slot)
    # A link may have asked for a head that this trace does not have: then another is open.
    return body_of(inputs, _opened(inputs), slot) if _check_link(body) else body


def _as_sentence(message: str) -> str:
    """A message as prose; a name at its start, such as d_model=100 or encoder.0, keeps its first letter."""
    is_name = re.match(r"\S*(=|\w\.\w)", message)
    start = message[:1] if is_name else message[:1].upper()
    return start + message[1:].removesuffix(".") + "."


def _check_link(body: Body) -> bool:
    """Drops what a link asks of the view that its trace does not have, and says so; True if there was any.

    Once a session: later traces may be shorter.
    """
    if st.session_state.get("link_checked"):
        return False
    st.session_state.link_checked = True
    linked, refusals = st.session_state.view_link, []
    for name, rule in rules_of(body, linked.get("stack")):
        if name in linked and not rule.fits(linked[name]):
            value = written(linked.pop(name))
            refusals.append(f"The link's {name}={value} is not {rule}; its default is shown.")
    refuse(*refusals)
    return bool(refusals)


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


def _opened(inputs: Inputs) -> Opened:
    """The head that the stage asked for; at first the link's, or the one that tells the story."""
    if "opened" in st.session_state:
        return st.session_state.opened
    linked = {**controls.offer(inputs.model).story, **st.session_state.view_link}
    return Opened(**{name: linked[name] for name in asdict(Opened()) if name in linked})


def own_header(inputs: Inputs, body: Body) -> dict[str, Any]:
    """The part of the header that belongs to this session: its view, its link, its buttons."""
    (label, text), offer = controls.swap_of(inputs), controls.offer(inputs.model)
    # The example that is read; what it says holds for the model's own output, in its own direction.
    is_as_usual = all(inputs.settings[s.name] == s.default for s in offer.settings if s.of_text)
    examples = [each for each in offer.examples if is_as_usual and each["text"] == inputs.text]
    example, story_view = examples[0] if examples else {}, offer.story
    noted = (f"request.{kind}" for kind in REQUESTS)
    session = [st.session_state.get(name) for name in ("opened", "reset_count", "view_link", *noted)]
    turned = [str(inputs.settings[s.name]) for s in offer.settings if s.turns]
    return {
        "generation": generation((inputs, *session)),
        "linked": st.session_state.view_link,
        **standing_header(offer, body.note),
        "fromBehind": st.session_state.get("from_behind", False),
        "viewToken": f"{inputs.model}.{st.session_state.get('reset_count', 0)}",
        "focus": _focus(body, story_view, example),
        "focusToken": " ".join([*turned, inputs.text]),
        "link": state.write_link(inputs),
        "edits": inputs.edits.splitlines(),
        "off": heads_off(inputs.edits),
        "swap": {"label": label, "text": text, "other": controls.other_of(inputs)},
        "beside": controls.can_stand_beside(),
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
    contrast = offer.contrast if controls.contrast_of(offer) else {"label": "", "model": ""}
    return {"text": f"{offer.taught} {note}".strip(), **contrast}


def examples() -> None:
    """Draws a button for a text of each kind, and the words that a model of words knows."""
    offer = controls.offer()
    names = {example["text"]: example["label"] for example in offer.examples}
    st.session_state.example = controls.chosen_example()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.pills(
            "Examples", list(names), key="example", on_change=_choose_example,
            format_func=lambda text: plain(names[text]), label_visibility="collapsed", wrap=True,
        )  # fmt: skip
        guard_choice("example", "Examples", names)
        if not offer.words:
            return
        words = st.popover("Words", on_change="rerun", help="All that the model knows whole")
        if words.open:
            listed = {
                name: sorted(w for w in known if any(map(str.isalpha, w)))
                for name, known in offer.words.items()
            }
            words.selectbox(
                "Put a word at the end of the text", sorted(set(chain(*listed.values()))), index=None,
                key="word_to_add", on_change=_add_word, placeholder="Type its first letters",
            )  # fmt: skip
            for language, known in listed.items():
                words.caption(f"{len(known)} {language} words")
                words.text(", ".join(known))


def _add_word() -> None:
    word = st.session_state.word_to_add
    if word in {known for each in controls.offer().words.values() for known in each}:
        controls.read_text(f"{controls.page().kept['text'].rstrip()} {word}".lstrip())
    st.session_state.word_to_add = None


def _choose_example() -> None:
    if st.session_state.example:
        controls.read_text(st.session_state.example)
