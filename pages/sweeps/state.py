"""The state of Sweeps: which sweep is open and what of it is seen; and the form of the next one, by task."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from models.limits import in_force
from models.sweeps import Sweep
from pages.shared import widget
from pages.shared.link import Param, Rule, characters, one_of, whole
from pages.shared.state import State, arrive, refuse
from pages.shared.training import settings, tasks_on_offer
from pages.shared.training.labels import label_of
from pages.shared.training.tasks_on_offer import TaskInfo
from pages.sweeps import brushes, found

PAGE = "sweeps"
FIRST = "copy"
NEW = "+"
"""Stands for the form of a new sweep where the name of a sweep would be, which has no such sign."""
MOST_ROWS = 6
MOST_NAME = 48
LIST, LOG, UNIFORM, INT = "list", "log", "uniform", "int"
KINDS = {
    LIST: "these values",
    LOG: "a range, by ratios",
    UNIFORM: "a range, evenly",
    INT: "whole numbers of a range",
}
SAMPLERS = {
    "": "chosen for you",
    "grid": "grid: every combination",
    "random": "random draws",
    "tpe": "TPE: near what did well",
}
PRUNERS = {"none": "no trial is stopped early", "asha": "ASHA: stops trials that are behind"}
ORDERS = {"number": "in their order", "best": "best first"}
NOT_VARIED = (
    "seed", "device", "held_out", "threads", "validate_every", "n_snapshots", "checkpoint_seconds", "compile",
)  # fmt: skip
"""Settings that change the time, the score's examples or what is kept, and not what is learnt."""
EARLY = ("n_heads", "n_layers", "d_model", "learning_rate", "positions")
"""Settings that people ask about first stand first."""
WRITTEN = "A list like 1, 2, 4, or the ends of a range like 0.0001 to 0.01"
SHARED = ("seeds", "trials", "sampler", "prune", "score", "name")


def page() -> State:
    """The task of the form, the open sweep ("+" is the form, "" none yet), and what is seen of it."""
    return State(
        PAGE,
        {
            "task": settings.chosen_task(FIRST),
            "sweep": Param("", characters(MOST_NAME)),
            "trial": Param(-1, whole(-1, 10**9)),
            "by": Param("", characters(in_force().field_characters), widget.select("Value by")),
            "brush": Param("", characters(in_force().field_characters), widget.segmented(
                "Highlight", "Drag along an axis of the figure to highlight a range, or move its ends with "
                "the arrow keys; several combine. A double press or Escape clears one", width="content")),
            "within": Param("", brushes.RULE),
            "order": Param("number", one_of(ORDERS), widget.segmented("Trials", width="content")),
        },
    )  # fmt: skip


def fixed_of(info: TaskInfo) -> State:
    """The settings that all runs of a task's sweep share; those that vary are left out later."""
    return State(f"{PAGE}.{info.name}.fixed", settings.declared(info))


def form_of(info: TaskInfo) -> State:
    """What varies, one row for each setting, and how trials are chosen and judged."""
    names = varied(info)
    params: dict[str, Param] = {"rows": Param(1, whole(1, MOST_ROWS))}
    for row in range(1, MOST_ROWS + 1):
        name = names[(row - 1) % len(names)]
        kind, values = usual(info, name)
        rule = one_of({each: label_of(each) for each in names})
        seen = {"label_visibility": "visible" if row == 1 else "collapsed"}
        params[f"vary{row}"] = Param(name, rule, widget.select("Setting", **seen))
        params[f"how{row}"] = Param(kind, one_of(KINDS), widget.select("What is tried", **seen))
        params[f"values{row}"] = Param(values, characters(1_000), widget.line("Values", WRITTEN, **seen))
    return State(f"{PAGE}.{info.name}.form", params | _choosing())


def _choosing() -> dict[str, Param]:
    return {
        "seeds": Param(3, whole(1, 100), widget.count(
            "Seeds", "Runs of each trial; with more, its mean is surer", step=1)),
        "trials": Param(0, whole(0, 10_000), widget.count(
            "Trials", "Settings to try; 0 is the whole grid, or 20 draws", step=1)),
        "sampler": Param("", one_of(SAMPLERS), widget.select("How trials are chosen")),
        "prune": Param("none", one_of(PRUNERS), widget.select(
            "Pruning", "ASHA (Li et al. 2020): of three trials that come to a rung, one goes on")),
        "score": Param("", characters(60), widget.line(
            "Score", "What trials are compared by; empty is the task's main held-out score",
            placeholder="the task's main one")),
        "name": Param("", characters(MOST_NAME), widget.line(
            "Name", "Small letters, digits and hyphens; empty has one made up", placeholder="made up")),
    }  # fmt: skip


def of_files(info: TaskInfo) -> list[str]:
    """The options that name a file or say how one is read: Train asks for them, where the file is seen."""
    return [option.name for option in info.options if option.file or option.of]


def varied(info: TaskInfo) -> list[str]:
    """The settings of a task that may vary, those asked about first first."""
    names = [name for name in settings.declared(info) if name not in (*NOT_VARIED, *of_files(info))]
    return [*(name for name in EARLY if name in names), *(name for name in names if name not in EARLY)]


def usual(info: TaskInfo, name: str) -> tuple[str, str]:
    """What is tried of a setting at first: its kind, and the values as a person writes them."""
    spec = settings.declared(info)[name]
    default, rule = spec.default, spec.rule
    if rule.options:
        return LIST, ", ".join(map(str, rule.options[:8]))
    if isinstance(default, int) and not isinstance(default, bool):
        return LIST, ", ".join(dict.fromkeys(str(n) for n in _near(default, rule)))
    if isinstance(default, float) and default > 0:
        low, high = max(default / 10, rule.low or 0.0), min(default * 10, rule.high or math.inf)
        return LOG, f"{low:g} to {high:g}"
    return LIST, str(default)


def _near(default: int, rule: Rule) -> list[int]:
    """Half, once and twice a whole number, as far as the rule lets them."""
    found = [number for number in (default // 2, default, 2 * default) if rule.fits(number)]
    return found if len(set(found)) > 1 else [n for n in (default, default + 1, default + 2) if rule.fits(n)]


def enter() -> None:
    """At the top of every run: on arrival the link's values, else the newest sweep, else the form."""
    shown, arrived = page(), arrive(PAGE)
    shown.follow(arrived)
    if arrived and not shown.kept["sweep"]:
        first = found.first() if "task" not in st.query_params else None
        shown.put({"sweep": first.name if first else NEW})
    info = task()
    for given in (fixed_of(info), form_of(info)):
        given.follow(arrived, drawn_anew=st.session_state.get("sweeps_drawn") != info.name)
    st.session_state.sweeps_drawn = info.name


def task() -> TaskInfo:
    """The task of the form."""
    return tasks_on_offer.tasks()[page().kept["task"]]


def opened() -> Sweep | None:
    """The sweep that is open; None where the form is, or where it is gone, which is then said."""
    name = page().kept["sweep"]
    if name in ("", NEW):
        return None
    sweep = found.find(name)
    if sweep is None:
        refuse(f"There is no sweep {name[:60]!r} here; choose one of the list, or start a new one.")
        open_sweep(NEW)
    return sweep


def open_sweep(name: str) -> None:
    """Opens a sweep, or with "+" the form."""
    st.session_state.sweeps_drawn = ""
    page().put({"sweep": name[:MOST_NAME], "trial": -1, "by": "", "brush": "", "within": ""})


def put_form(info: TaskInfo, fixed: dict[str, Any], form: dict[str, Any]) -> None:
    """Shows the form with these values; the rest is as usual."""
    page().put({"task": info.name})
    for given, values in ((fixed_of(info), fixed), (form_of(info), form)):
        given.put(given.defaults() | values)
    open_sweep(NEW)
