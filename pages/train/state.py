"""What Train holds: the task, its settings, and the run that is watched. Link and widgets are one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.shared import widget_internals
from pages.shared.training import catalogue, settings
from pages.shared.training.catalogue import TaskInfo

PAGE = "train"
FIRST = "induction"


def key(task: str, name: str) -> str:
    """The key of the widget that sets a task's setting; every task keeps its own."""
    return f"{PAGE}.{task}.{name}"


def enter() -> None:
    """At the top of every run: on arrival the link's values, if it has any, then whatever is missing."""
    arrived, st.session_state.page = st.session_state.get("page") != PAGE, PAGE
    kept = st.session_state.setdefault("train_kept", {})
    params = dict(st.query_params)
    if arrived and (params or not kept):
        _read(params)
    elif arrived:
        st.session_state.train_redraw = True


def _read(params: Mapping[str, str]) -> None:
    tasks, problems = catalogue.tasks(), []
    name = params.get("task", _first())
    if name not in tasks:
        shown = name[:40]
        problems.append(f"The link's task={shown!r} is not one of {', '.join(tasks)}; {_first()} is shown.")
        name = _first()
    values, more = settings.from_link(tasks[name], params)
    st.session_state.train_kept[name] = values
    st.session_state.train_task = name
    st.session_state.train_run = params.get("run", "")[:100]
    st.session_state.train_redraw = True
    st.session_state.link_problems = problems + more


def _first() -> str:
    """The task that a first visit shows."""
    tasks = catalogue.tasks()
    return FIRST if FIRST in tasks else next(iter(tasks))


def task() -> TaskInfo:
    """The task that is chosen."""
    tasks = catalogue.tasks()
    return tasks.get(st.session_state.get("train_task", ""), tasks[_first()])


def seed_widgets(info: TaskInfo) -> None:
    """Before widgets are drawn: gives those that are drawn anew the values they had."""
    kept = st.session_state.train_kept.setdefault(info.name, settings.defaults(info))
    anew = st.session_state.pop("train_redraw", False) or st.session_state.get("train_drawn") != info.name
    for name, value in kept.items():
        if anew:
            st.session_state[key(info.name, name)] = value
        else:
            st.session_state.setdefault(key(info.name, name), value)
    widget_internals.write_again(key(info.name, name) for name in kept)
    st.session_state.train_drawn = info.name


def values(info: TaskInfo) -> settings.Values:
    """What the widgets say now; remembered for when they are not drawn."""
    kept = st.session_state.train_kept[info.name]
    found = {name: st.session_state.get(key(info.name, name), kept[name]) for name in kept}
    st.session_state.train_kept[info.name] = found
    return found


def put(info: TaskInfo, changes: Mapping[str, Any]) -> None:
    """Sets some settings, as a preset does, and all others to the task's own."""
    st.session_state.train_kept[info.name] = settings.defaults(info) | dict(changes)
    st.session_state.train_redraw = True


def choose_task() -> None:
    """The task of the list was chosen."""
    st.session_state.train_task = st.session_state["train.task"]


def watched() -> str:
    """The id of the run that is watched; "" for none."""
    return str(st.session_state.get("train_run", ""))


def watch(run_id: str) -> None:
    """Shows a run, or with "" the settings of the next."""
    st.session_state.train_run = run_id
    st.session_state.train_drawn = ""


def session() -> str:
    """A name for this visitor, by which the jobs count how many runs are theirs."""
    return str(st.session_state.setdefault("train_session", secrets.token_hex(8)))
