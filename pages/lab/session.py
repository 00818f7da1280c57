"""The state of a lab page: its inputs in Streamlit's session, under keys of the page's own.

Link, widgets and session are one: the key of a widget is `key(page, field)`. Streamlit forgets a widget's
value when it is not drawn, so the inputs are kept beside and put back where they are missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import streamlit as st

from pages.lab.lesson import LabPage, Part
from pages.shared import late_widgets
from pages.shared.link import CellError, one_of, read_link, written


def key(page: str, field: str) -> str:
    """The session's key for an input of a page, and the key of the widget that sets it."""
    return f"{page}.{field}"


def enter(page: LabPage) -> None:
    """At the top of every run: on arrival the link's values, if it has any, then whatever is missing."""
    arrived = st.session_state.get("page") != page.name
    st.session_state.page = page.name
    kept = st.session_state.setdefault("kept", {})
    params = dict(st.query_params)
    if arrived and (params or page.name not in kept):
        _read(page, params)
    elif arrived:
        put(page.name, kept[page.name])  # Streamlit may still hold what its widgets began with
    for name, value in kept[page.name].items():
        st.session_state.setdefault(key(page.name, name), value)
    late_widgets.write_again(key(page.name, name) for name in kept[page.name])


def _read(page: LabPage, params: Mapping[str, str]) -> None:
    values, problems = read_link(page.inputs, params)
    part = page.parts[0].name
    if "part" in params:
        names = tuple(part.name for part in page.parts)
        try:
            part = one_of(names)(params["part"])
        except StopIteration:
            shown = params["part"][:40]
            known = ", ".join(names)
            problems.append(f"The link's part={shown!r} is not one of {known}; the first is shown.")
    defaults = {spec.name: spec.default for spec in fields(page.inputs)}
    st.session_state.kept[page.name] = {"part": part, **defaults, **values}
    put(page.name, st.session_state.kept[page.name])
    st.session_state.link_problems = problems


def put(page: str, values: Mapping[str, Any]) -> None:
    """Sets inputs, and tells the browser that its own may have changed too."""
    for name, value in values.items():
        st.session_state[key(page, name)] = value
    st.session_state.moves = st.session_state.get("moves", 0) + 1


def write_again(page: LabPage) -> None:
    """For widgets that are drawn anew: in the browser they would show their own defaults otherwise."""
    for name, value in st.session_state.kept[page.name].items():
        st.session_state[key(page.name, name)] = value


def part_of(page: LabPage) -> Part:
    return page.part(st.session_state[key(page.name, "part")])


def inputs(page: LabPage) -> Any:
    """What the widgets say now; remembered for when they are not drawn."""
    values = {spec.name: st.session_state[key(page.name, spec.name)] for spec in fields(page.inputs)}
    part = st.session_state[key(page.name, "part")]
    st.session_state.kept[page.name] = {"part": part, **values}
    return page.inputs(**values)


def computed_from(page: LabPage, part: Part, now: Any) -> Any:
    """The inputs that a part's lesson depends on: all others, and the scrub, at their defaults."""
    mine = set(part.fields) - {part.scrub}
    return replace(page.inputs(), **{name: getattr(now, name) for name in mine})


def link(page: LabPage, part: Part, now: Any) -> dict[str, str]:
    """The query parameters of what is shown, but for the scrub, which the browser writes."""
    params = {} if part is page.parts[0] else {"part": part.name}
    usual = page.inputs()
    for name in part.fields:
        if name != part.scrub and getattr(now, name) != getattr(usual, name):
            params[name] = written(getattr(now, name))
    return params


def reset(page: LabPage, part: Part) -> None:
    """The part as on a first visit."""
    usual = page.inputs()
    put(page.name, {name: getattr(usual, name) for name in part.fields})


def edit(page: LabPage, part: Part, act: Mapping[str, Any]) -> str | None:
    """What a person wrote into the board's cells becomes an input; a sentence if it is not possible."""
    name, raw = str(act.get("field")), str(act.get("value"))[:10_000]
    if name not in part.fields:
        return f"{name!r} is no input of this part; reload the page."
    spec = next(spec for spec in fields(page.inputs) if spec.name == name)
    read = spec.metadata["read"]
    try:
        st.session_state[key(page.name, name)] = read(raw)
    except (ValueError, StopIteration) as error:
        what = error if isinstance(error, CellError) else f"{raw[:60]!r} is not {read.__doc__}"
        return f"{what}; the numbers before it are kept: write one like 0.5."
    return None
