"""The state of Train: the task, the watched run, and the settings of every task."""

import streamlit as st

from attention_lab.models.fields import SWITCH, Field, characters
from attention_lab.models.runs.folder import MAX_NAME
from attention_lab.pages.shared.state import State, arrive
from attention_lab.pages.shared.training import curves, settings, tasks_on_offer
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo

PAGE = "train"
FIRST = "induction"
MOST_CHARACTERS = 200


_NAME = {"label_visibility": "collapsed", "placeholder": "Name (optional)", "width": 170}


def page() -> State:
    """The task, the watched run ("" for none), the next one's name, and whether runs outlive the server."""
    return State(
        PAGE,
        {
            "task": settings.chosen_task(FIRST),
            "run": Field("", characters(MOST_CHARACTERS)),
            "name": Field("", characters(MAX_NAME), "Name of the run", more=_NAME),
            "keep_going": Field(False, SWITCH, "Go on when the server stops", control="tick"),
        },
    )


def settings_of(info: TaskInfo) -> State:
    """The settings of a task; every task keeps its own."""
    return State(f"{PAGE}.{info.name}", settings.declared(info))


def enter() -> None:
    """At the top of every run: on arrival the link's values, if it has any, then what widgets say."""
    arrived = arrive(PAGE)
    page().follow(arrived)
    settings_state = settings_of(task())
    settings_state.follow(arrived, drawn_anew=st.session_state.get("train_drawn") != settings_state.name)
    curves.view_state(PAGE).follow(arrived)
    st.session_state.train_drawn = settings_state.name


def task() -> TaskInfo:
    """The task that is chosen."""
    return tasks_on_offer.tasks()[page().kept["task"]]


def watched() -> str:
    """The id of the run that is watched; "" for none."""
    return str(page().kept["run"])


def watch(run_id: str) -> None:
    """Shows a run, or with "" the settings of the next."""
    page().put({"run": run_id})
    st.session_state.train_drawn = ""
