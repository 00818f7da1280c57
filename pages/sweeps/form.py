"""The form of a new sweep, and what it would cost, worked out on a thread of its own, which makes the
task and measures a run.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from attention_lab.models.byte_units import readable
from attention_lab.models.limits import in_force
from attention_lab.models.runs.owners import Visitor
from attention_lab.models.sweeps import Spec, Sweep, create, start, usual_slots
from attention_lab.pages.shared import server_load, visitors, wording
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.page_parts import show_problems
from attention_lab.pages.shared.state import State, attempt, problems
from attention_lab.pages.shared.training import runs, settings, uploads
from attention_lab.pages.shared.training.prepare import forget_pictures
from attention_lab.pages.shared.training.settings import label_of
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo
from attention_lab.pages.shared.visitors import without_places
from attention_lab.pages.shared.work import Job, Queue, any_number
from attention_lab.pages.sweeps import state
from attention_lab.viz_core.boards import Board, Fact, Facts

if TYPE_CHECKING:
    from attention_lab.models.sweeps.plan import SweepCost


@dataclass(frozen=True)
class Planned:
    """A sweep that could start now: in words, and what it would cost."""

    spec: Spec
    sentence: str
    n_runs: int
    n_slots: int
    cost: SweepCost


_queue = Queue(
    "plans", smaller="take a smaller model, or less data", most=any_number, keep=in_force().prepared_tasks,
    after=forget_pictures,
)  # fmt: skip
server_load.cache_clearers.append(_queue.forget_done)


def planned(spec: Spec, by: Visitor) -> Planned:
    """Plans a sweep. Raises ValueError, in a sentence, for one that could not start."""
    described: dict[str, Any] = spec.to_dict() | {"name": ""}
    key = json.dumps([described, by.id, by.all_rights], sort_keys=True, default=str)
    return _queue.result(key, lambda job: _plan(spec, by))


def _plan(spec: Spec, by: Visitor) -> Planned:
    from attention_lab.models.runs import queue
    from attention_lab.models.sweeps.plan import cost_of, plan

    counted = plan(spec, by=by)
    queue.check_rights(counted.config.training, by, keep_going=False)
    queue.check_threads(counted.config.training)
    n_slots = usual_slots()
    threads = counted.config.training.threads or max(1, (os.cpu_count() or 1) // n_slots)
    cost = cost_of(counted, n_slots=n_slots, threads=threads)
    return Planned(counted.spec, counted.sentence, counted.n_runs, n_slots, cost)


def begin(spec: Spec, by: Visitor) -> Sweep:
    """Makes a sweep and lets it work. Raises ValueError or OSError, in a sentence, where that is refused."""

    def make(job: Job) -> Sweep:
        sweep = create(spec, by=by)
        start(sweep.name, by=by)
        return sweep

    return _queue.run(make)


# The form of a new sweep: its task, what varies, how trials are chosen, and what it would cost.

KEY = "sweeps.before"


def draw() -> None:
    """The form; below it what the sweep would be, and sentences where nothing can start."""
    info = state.task()
    fixed, form = state.fixed_of(info), state.form_of(info)
    with st.container(horizontal=True, vertical_alignment="center", key="sweeps_form"):
        st.markdown("**A new sweep** of", width="content")
        state.page().draw("task")
        start = st.container(width="content")
    cost = st.container()
    with st.container(border=True):
        _rows(info, form)
    with st.container(border=True):  # how often, how many, which, and by what they are compared
        st.markdown("**How it is tried**")
        form.draw_grid(state.SHARED, 3)
    _shared(info, fixed, form.kept)
    with cost:
        _cost(info, fixed.kept, form.kept, start)


def _rows(info: TaskInfo, form: State) -> None:
    """One row for each setting that varies."""
    st.markdown("**What varies**")
    for row in range(1, form.kept["rows"] + 1):
        name, how, values, drop = st.columns([3, 3, 5, 1], vertical_alignment="bottom")

        def renew(row: int = row) -> None:
            kind, text = state.usual_variation(info, form.kept[f"vary{row}"])
            form.put({f"how{row}": kind, f"values{row}": text})

        form.draw(f"vary{row}", name, then=renew)
        form.draw(f"how{row}", how)
        form.draw(f"values{row}", values)
        if form.kept["rows"] > 1:
            label = f"Leave {label_of(form.kept[f'vary{row}'])} out"
            drop.button("✕", help=label, key=f"sweeps.drop{row}", on_click=_drop_form, args=(form, row))
    if form.kept["rows"] < state.MOST_ROWS:

        def add() -> None:
            """One more row, with a setting that has none yet."""
            n = form.kept["rows"] + 1
            names = [form.kept[f"vary{row}"] for row in range(1, n)]
            name = next((each for each in state.varied_settings(info) if each not in names), names[0])
            how, values = state.usual_variation(info, name)
            form.put({"rows": n, f"vary{n}": name, f"how{n}": how, f"values{n}": values})

        st.button("Vary another setting", key="sweeps.add", on_click=add)


def _drop_form(form: State, row: int) -> None:
    """Takes a row out; those below move up."""
    rows = form.kept["rows"]
    moved: dict[str, Any] = {}
    for each in range(row, rows):
        moved |= {f"{part}{each}": form.kept[f"{part}{each + 1}"] for part in ("vary", "how", "values")}
    form.put(moved | {"rows": rows - 1})


def _shared(info: TaskInfo, fixed: State, form: dict[str, Any]) -> None:
    """The settings that all runs share: those of Train, without those that vary."""
    varying = [form[f"vary{row}"] for row in range(1, form["rows"] + 1)]
    files = state.of_files(info)
    names = [name for name in fixed.params if name not in files and name not in varying]
    changed = [name for name in names if fixed.kept[name] != fixed.params[name].default]
    count = f" ({len(changed)} changed)" if changed else ""
    with st.expander(f"Settings that all runs share{count}"):
        for name in files:
            if fixed.kept[name]:
                file = uploads.with_short_name(str(fixed.kept[name]))
                st.caption(wording.plain(f"{label_of(name)}: {file}, as on Train"))
        fixed.draw_grid(names, 4)
        st.button("As the task comes", key="sweeps.usual", on_click=fixed.reset, args=(names,))


def _cost(info: TaskInfo, fixed: dict[str, Any], form: dict[str, Any], start: Any) -> None:
    """How many runs, how long and how much disk; the button that starts them."""
    sentences, ready, spec = problems(), None, None
    try:
        spec = state.spec_of(info, fixed, form)
        with st.spinner("Counting the runs…"):
            ready = planned(spec, visitors.visitor())
    except (ValueError, OSError) as error:
        sentences.append(_sentence(str(error)))
    show_problems(dict.fromkeys(sentences))
    impossible = ready is None or bool(runs.refusals())  # which the page says

    def begin_it() -> None:
        sweep = None if spec is None else attempt(lambda: begin(spec, visitors.visitor()), _sentence)
        if sweep is not None:
            state.open_sweep(sweep.name)

    start.button("Start", type="primary", disabled=impossible, on_click=begin_it, key="sweeps.start")
    # There is nothing to take away before the start but the link, which the browser copies.
    on_page.show(_board(ready), key=KEY, part="before", link=link_of(info, fixed, form), keep=False)


def _sentence(problem: str) -> str:
    words = without_places(uploads.without_names(problem.replace(f"{uploads.folder()}/", "")))
    return words if "=" in words.split()[0] else wording.capitalised(words)


def _board(ready: Planned | None) -> Board:
    cost = ready.cost if ready else None
    time = "–" if cost is None or cost.seconds is None else wording.duration(cost.seconds)
    facts = [
        Fact(label="runs", values=f"{ready.n_runs:,}" if ready else "–"),
        Fact(label="time, about", values=time),
        Fact(label="at once", values=str(ready.n_slots) if ready else "–"),
        Fact(label="disk, at most about", values=readable(cost.disk_bytes) if cost else "–"),
    ]
    return Board(rows=[[Facts(facts=facts)]], notice=notice(ready))


def notice(ready: Planned | None) -> str:
    """The plan as one sentence: settings, seeds, runs, time, slots, and what they are compared by."""
    if ready is None:
        return "These settings make no sweep; see above."
    slots = f"on {ready.n_slots} slot{'s' * (ready.n_slots != 1)}"
    seconds = ready.cost.seconds
    time = "" if seconds is None else f", about {wording.duration(seconds)} {slots}"
    better = "less" if ready.spec.direction == "minimize" else "more"
    return f"**{ready.sentence}**{time}. Trials are compared by {ready.spec.score}: {better} is better."


def link_of(info: TaskInfo, fixed: dict[str, Any], form: dict[str, Any]) -> dict[str, str]:
    """The link that opens this form: what differs from the task's usual one."""
    rows = form["rows"]
    fields = [f"{part}{row}" for row in range(1, rows + 1) for part in ("vary", "how", "values")]
    return {
        **settings.to_link(info, fixed),
        "sweep": state.NEW,
        **state.form_of(info).link(["rows", *fields, *state.SHARED]),
    }
