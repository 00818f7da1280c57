"""Widgets bound to the link: each one's key is the name of an input, so state, link and widget are one."""

from __future__ import annotations

from typing import Any

import streamlit as st

from models.zoo.offers import DEFAULT, RUN, Offer, offer_of, offers
from models.zoo.settings import MAX_CHARACTERS, Setting
from pages.explore import state
from pages.explore.state import Inputs, View
from pages.shared import widget_internals
from pages.shared.link import read_link

MOST_PICTURES = 1_000_000


def offer(model: str = "") -> Offer:
    """What is said of a model, left out the chosen one; of the default one where it is gone."""
    return offer_of(model or st.session_state.model) or offers()[DEFAULT]


def load_link() -> None:
    """On arrival: the link's values, else those of the last visit, put where the widgets find them."""
    session = st.session_state
    arrived, session.page = session.get("page") != "explore", "explore"
    if not arrived:
        return
    params = dict(st.query_params)
    inputs, problems = state.read_inputs(params)
    view, more = read_link(View, params)
    asked, lost = _without_lost_run(inputs if params else session.get("explored", {}))
    model = asked.get("model", DEFAULT)
    session.update(_usual(), model=model, text=offer(model).text)
    session.update(asked)
    session.view_link = view
    session.link_problems = problems + more + lost
    session.pop("opened", None)
    session.pop("link_checked", None)


def _usual() -> dict[str, Any]:
    """The default of every setting that any model has."""
    return {s.name: s.default for offer in reversed(offers().values()) for s in offer.settings}


def _without_lost_run(asked: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What was asked for without the run that is not here (any more), and a sentence if there was one."""
    model = asked.get("model", DEFAULT)
    if offer_of(model):
        return asked, []
    return {}, [f"{model!r} is no run with a checkpoint on this machine; the default is shown."]


def inputs() -> Inputs:
    """What the widgets say now; remembered for the next visit to the page."""
    session, settings = st.session_state, offer().settings
    values = {s.name: session[s.name] if s.accepts(session.get(s.name)) else s.default for s in settings}
    session.explored = {"model": session.model, "text": session.text, **values}
    return Inputs(**session.explored)


def keep() -> None:
    """Streamlit forgets a widget's value when it is not drawn; writing it again makes it last.

    Widgets that the browser has told of are left alone.
    """
    drawn = {"model", "text", *(s.name for s in offer().settings)}
    if offer().reads == "picture":
        drawn.remove("text")
    _write_again({"model", "text", *_usual()} - drawn)
    widget_internals.write_again(drawn)


def _write_again(names: set[str]) -> None:
    for name in names & st.session_state.keys():
        st.session_state[name] = st.session_state[name]


def switch_model() -> None:
    """Shows what the other model opens with; its widgets, drawn anew, get the values they had.

    Models that share a memory read the same text; every other one has its own.
    """
    session = st.session_state
    texts, before = session.setdefault("texts", {}), session.explored
    texts[offer(before["model"]).memory] = before["text"]
    session.text = texts.get(offer().memory, offer().text)
    session.view_link = {}
    session.pop("opened", None)
    for setting in offer().settings:
        value = session.get(setting.name)
        session[setting.name] = value if setting.accepts(value) else setting.default


def reset() -> None:
    """Everything as on a first visit."""
    session = st.session_state
    session.update(_usual(), model=DEFAULT, text=state.SHOWCASE)
    session.view_link = {}
    session.pop("opened", None)
    session.reset_count = session.get("reset_count", 0) + 1


def say(text: str) -> None:
    """Puts a text in; what was set for the one before is as usual again."""
    st.session_state.text = text
    st.session_state.update({s.name: s.default for s in offer().settings if s.of_text})


def replace_word(unknown: dict[str, Any], word: str) -> None:
    """Puts a known word where the unknown one stands; `unknown` says in which text and where."""
    text = st.session_state[unknown["where"]]
    st.session_state[unknown["where"]] = text[: unknown["start"]] + word + text[unknown["end"] :]


def model_controls() -> None:
    """The column beside the stage."""
    model = st.session_state.model
    st.selectbox(
        "Model",
        [*offers(), *([model] if RUN.fullmatch(model) else [])],
        key="model",
        format_func=lambda name: offer(name).title,
        on_change=switch_model,
        help="All but the untrained one, which reads any words, were trained for this app, or by you.",
    )
    shown = offer()
    if shown.summary:
        st.caption(shown.summary)
    if shown.sizes:
        kind, layers, heads, width, positions = map(
            shown.sizes.get, ("kind", "n_layers", "n_heads", "d_model", "positions")
        )
        st.caption(f"{kind}: {layers} layers, {heads} heads, d_model {width}, positions {positions}")
    columns = st.columns(2) if len(shown.settings) > 4 else [st.container()]
    for at, setting in enumerate(shown.settings):
        with columns[at % len(columns)]:
            _draw(setting)
    st.button("Reset", on_click=reset, help="Back to the first sentence and its head", width="stretch")


def _draw(setting: Setting) -> None:
    """The widget of one setting."""
    common: dict[str, Any] = {"key": setting.name, "help": setting.help, "on_change": _changed}
    common["args"] = (setting,)
    if setting.choices:
        common["format_func"] = lambda value: str(setting.names.get(value, value))
    if setting.drawn == "slider":
        st.slider(setting.label, setting.low, setting.high, **common)
    elif setting.drawn == "steps":
        st.select_slider(setting.label, setting.choices, **common)
    elif setting.drawn == "segments":
        st.segmented_control(setting.label, setting.choices, required=True, **common)
    elif setting.drawn == "list":
        st.selectbox(setting.label, list(setting.choices), **common)
    else:
        value = st.session_state[setting.of] if setting.of else ""
        example, meaning = setting.arguments.get(value, ("", ""))
        if example:
            common["help"] = f"{example} = {meaning}"
        st.text_input(
            setting.label,
            placeholder=example or setting.placeholder,
            disabled=bool(setting.of) and not example,
            max_chars=setting.most if setting.of else None,
            **common,
        )


def _changed(setting: Setting) -> None:
    """An argument starts anew, and so does what was written, with the value on which they depend."""
    session = st.session_state
    session.update({s.name: s.default for s in offer().settings if s.of == setting.name})
    if setting.turns and session.get("last_target"):
        session.text = session.last_target
        session.update({s.name: s.default for s in offer().settings if s.of_text and s != setting})


def text_input() -> None:
    """Where a person says what the model reads."""
    shown = offer()
    if shown.reads == "picture":
        typed = st.session_state.text
        st.session_state.picture = int(typed) if typed.isdecimal() and 0 < int(typed) < MOST_PICTURES else 1
        st.number_input(
            "Picture: choose one of those never seen in training, by its number.",
            1, MOST_PICTURES, key="picture", on_change=_choose_picture,
        )  # fmt: skip
    elif shown.reads == "prose":
        st.text_area(shown.label, key="text", height=68)
    else:
        st.text_input(shown.label, key="text", placeholder="Type a sentence")


def _choose_picture() -> None:
    st.session_state.text = str(st.session_state.picture)


def swap_of(inputs: Inputs) -> tuple[str, str]:
    """(label, text) of the button that shows another text: one word is changed that turns it round, or else
    the next example. ("", "") where there is none.
    """
    shown, words = offer(inputs.model), inputs.text.split()
    if shown.reads == "picture":
        return "next picture", str(int(inputs.text) + 1) if inputs.text.isdecimal() else "1"
    for old, new in shown.swaps.items():
        if old in words:
            return f"{old} → {new}", " ".join(new if word == old else word for word in words)
    texts = [example["text"] for example in shown.examples]
    after = texts[(texts.index(inputs.text) + 1) % len(texts)] if inputs.text in texts else shown.text
    return ("next example", after) if after != inputs.text else ("", "")


def problem_of(current: Inputs) -> str | None:
    """A sentence about a text too long to read, else None."""
    for name, text in {"text": current.text, **current.settings}.items():
        over = len(text) - MAX_CHARACTERS if isinstance(text, str) else 0
        if over > 0:
            limit = f"at most {MAX_CHARACTERS:,} are read"
            return f"The {name} has {len(text):,} characters; {limit}; remove {over:,}."
    return None
