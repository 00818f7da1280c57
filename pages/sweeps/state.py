"""Holds the state of Sweeps: which sweeps a visitor may see, which is open, what stands in the form."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from attention_lab.models.fields import Field, Rule, characters, fields_of, one_of, whole, written
from attention_lab.models.sweeps import Choices, Range, Spec, Sweep, list_shipped, list_sweeps, spec
from attention_lab.models.sweeps.spec import parse_value
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.state import State, arrive, refuse
from attention_lab.pages.shared.training import settings, tasks_on_offer
from attention_lab.pages.shared.training.settings import label_of
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo


def all_sweeps() -> list[Sweep]:
    """The sweeps that this visitor may see, newest first, and then those that ship."""
    visitor = visitors.visitor()
    own = [sweep for sweep in list_sweeps() if sweep.may_see(visitor)]
    names = {sweep.name for sweep in own}
    return [*own, *(sweep for sweep in list_shipped() if sweep.name not in names)]


def find_sweep(name: str) -> Sweep | None:
    """The sweep of a name, which anybody may send; None where this visitor may see none."""
    return next((sweep for sweep in all_sweeps() if sweep.name == name), None)


# The state of Sweeps: which sweep is open and what of it is seen; and the form of the next one, by task.

PAGE = "sweeps"
FIRST = "reverse"
NEW = "+"
"""Stands for the form of a new sweep where the name of a sweep would be, which has no such sign."""
MOST_ROWS = 6
NOT_VARIED = (*spec.NOT_VARIED, "validate_every", "n_snapshots", "checkpoint_seconds", "compile")
"""Settings that change the time, the score's examples or what is kept, and not what is learnt."""
EARLY = ("n_heads", "n_layers", "d_model", "learning_rate", "positions")
"""Settings that people ask about first stand first."""
WRITTEN = "A list like 1, 2, 4, or a range like 0.0001 to 0.01"
_DECLARED = fields_of(Spec)
CHOOSING = {
    "seeds": replace(_DECLARED["seeds"], default=3, more={"step": 1}),
    "trials": replace(_DECLARED["trials"], more={"step": 1}),
    "sampler": _DECLARED["sampler"],
    "prune": _DECLARED["prune"],
    "score": replace(_DECLARED["score"], more={"placeholder": "the task's main one"}),
    "name": replace(_DECLARED["name"], more={"placeholder": "made up"}),
}
SHARED = tuple(CHOOSING)


def page() -> State:
    """The task of the form, the open sweep ("+" is the form, "" none yet), and what is seen of it."""
    return State(
        PAGE,
        {
            "task": settings.chosen_task(FIRST),
            "sweep": Field("", characters(48)),
            "trial": Field(-1, whole(-1, 10**9)),
        },
    )


def fixed_of(info: TaskInfo) -> State:
    """The settings that all runs of a task's sweep share; those that vary are left out later."""
    return State(f"{PAGE}.{info.name}.fixed", settings.declared(info))


def form_of(info: TaskInfo) -> State:
    """What varies, at most one setting in each row, and how trials are chosen and judged."""
    names = varied_settings(info)
    params: dict[str, Field] = {}
    for row in range(1, MOST_ROWS + 1):
        first = names[0] if row == 1 else ""
        rule = one_of({"": "nothing", **{each: label_of(each) for each in names}})
        more = {"label_visibility": "visible" if row == 1 else "collapsed"}
        params[f"vary{row}"] = Field(first, rule, "Setting", control="list", more=more)
        usual = usual_variation(info, first)
        params[f"values{row}"] = Field(usual, characters(1_000), "Values", WRITTEN, more=more)
    return State(f"{PAGE}.{info.name}.form", params | CHOOSING)


def rows_of(form: Mapping[str, Any]) -> dict[int, str]:
    """The settings that vary, by their rows."""
    return {row: form[f"vary{row}"] for row in range(1, MOST_ROWS + 1) if form[f"vary{row}"]}


def of_files(info: TaskInfo) -> list[str]:
    """The options that name a file or say how one is read: Train asks for them, where the file is seen."""
    return [option.name for option in info.options if option.file or option.of]


def varied_settings(info: TaskInfo) -> list[str]:
    """The settings of a task that may vary, those asked about first first."""
    names = [name for name in settings.declared(info) if name not in (*NOT_VARIED, *of_files(info))]
    return [*(name for name in EARLY if name in names), *(name for name in names if name not in EARLY)]


def usual_variation(info: TaskInfo, name: str) -> str:
    """What is tried of a setting at first, as a person writes it."""
    if not name:
        return ""
    declared = settings.declared(info)[name]
    default, rule = declared.default, declared.rule
    if rule.options:
        return ", ".join(map(str, rule.options[:8]))
    if isinstance(default, int) and not isinstance(default, bool):
        near = sorted({default // 2, default, 2 * default or 1, default + (default < 2)})
        return ", ".join(str(n) for n in near if rule.fits(n))
    if isinstance(default, float) and default > 0:
        low, high = max(default / 10, rule.low or 0.0), min(default * 10, rule.high or math.inf)
        return f"{low:g} to {high:g}"
    return str(default)


def enter() -> None:
    """At the top of every run: on arrival the link's values, else the newest sweep, else the form."""
    inputs, arrived = page(), arrive(PAGE)
    inputs.follow(arrived)
    if arrived and not inputs.kept["sweep"]:
        first = next(iter(all_sweeps()), None) if "task" not in st.query_params else None
        inputs.put({"sweep": first.name if first else NEW})
    info = task()
    for part in (fixed_of(info), form_of(info)):
        part.follow(arrived, drawn_anew=st.session_state.get("sweeps_drawn") != info.name)
    st.session_state.sweeps_drawn = info.name


def task() -> TaskInfo:
    """The task of the form."""
    return tasks_on_offer.tasks()[page().kept["task"]]


def opened() -> Sweep | None:
    """The sweep that is open; None where the form is, or where it is gone, which is then said."""
    name = page().kept["sweep"]
    if name in ("", NEW):
        return None
    sweep = find_sweep(name)
    if sweep is None:
        refuse(f"There is no sweep {name[:60]!r}; choose one of the list.")
        open_sweep(NEW)
    return sweep


def open_sweep(name: str) -> None:
    """Opens a sweep, or with "+" the form."""
    st.session_state.sweeps_drawn = ""
    page().put({"sweep": name[:48], "trial": -1})


def put_form(info: TaskInfo, fixed: dict[str, Any], form: dict[str, Any]) -> None:
    """Shows the form with these values; the rest is as usual."""
    page().put({"task": info.name})
    for part, values in ((fixed_of(info), fixed), (form_of(info), form)):
        part.put(part.defaults() | values)
    open_sweep(NEW)


# What a person wrote into the form, as the sweep that it asks for.


def spec_of(info: TaskInfo, fixed: Mapping[str, Any], form: Mapping[str, Any]) -> Spec:
    """The sweep of the form. Raises ValueError, with value, rule and remedy, for what is none."""
    declared = settings.declared(info)
    space: dict[str, Choices | Range] = {}
    for row, name in rows_of(form).items():
        if name in space:
            raise ValueError(f"{label_of(name)} stands in two rows; write all its values in one")
        space[name] = variation(name, form[f"values{row}"], declared[name].rule)
    changed = {name: fixed[name] for name, spec in declared.items() if fixed[name] != spec.default}
    values_with_paths = settings.with_paths(info, dict(fixed))
    return Spec(
        task=info.name,
        space=space,
        fixed={name: settings.meant(name, values_with_paths[name]) for name in changed if name not in space},
        **{name: form[name] for name in SHARED} | {"name": form["name"].strip()},
    )


def variation(name: str, text: str, rule: Rule) -> Choices | Range:
    """The values or the range of a row, each number checked by the setting's own rule.

    Raises ValueError with value, rule and remedy.
    """
    label = label_of(name)

    def read(part: str) -> Any:
        try:
            return settings.meant(name, rule.parsed(part))
        except ValueError:
            raise ValueError(f"{label}: {rule.refusal(part)}; change it, or leave it out") from None

    varied = parse_value(label, text.strip(), read)
    return varied if isinstance(varied, Choices | Range) else Choices((varied,))


def form_of_spec(info: TaskInfo, wanted: Spec) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings and the form that ask for such a sweep, as far as the widgets can hold them."""
    declared = settings.declared(info)
    files = [option.name for option in info.options if option.file]
    known = {name: settings.shown(name, value) for name, value in wanted.fixed.items() if name not in files}
    fixed = {it: value for it, value in known.items() if it in declared and declared[it].rule.fits(value)}
    form: dict[str, Any] = {name: getattr(wanted, name) for name in ("seeds", "sampler", "prune", "score")}
    form["trials"] = 0 if wanted.sampler == "grid" else wanted.trials
    rows = [name for name in wanted.space if name in varied_settings(info)][:MOST_ROWS]
    for row, name in enumerate(rows, start=1):
        varied = wanted.space[name]
        values = str(varied)
        if isinstance(varied, Choices):
            values = ", ".join(written(settings.shown(name, value)) for value in varied.values)
        form |= {f"vary{row}": name, f"values{row}": values}
    return fixed, form
