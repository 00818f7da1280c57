"""Draws the form of a new sweep: its task, what varies, how trials are chosen, and what it will cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import streamlit as st

from attention_lab.models.runs.owners import Visitor
from attention_lab.models.sweeps import Spec, Sweep, create, start
from attention_lab.models.sweeps.control import usual_slots
from attention_lab.pages.shared import phrases, server_load, visitors
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.page_parts import show_problems
from attention_lab.pages.shared.state import State, attempt, problems
from attention_lab.pages.shared.training import runs, settings, uploads
from attention_lab.pages.shared.training.prepare import KEPT
from attention_lab.pages.shared.training.settings import label_of
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo
from attention_lab.pages.shared.visitors import without_places
from attention_lab.pages.shared.work import Job, Queue, any_number
from attention_lab.pages.sweeps import state
from attention_lab.viz_core.boards import Board, Fact, Facts

if TYPE_CHECKING:
    from attention_lab.models.sweeps.plan import Plan

_queue = Queue("plans", smaller="take a smaller model, or less data", most=any_number, keep=KEPT)
server_load.cache_clearers.append(_queue.forget_done)


def planned(spec: Spec, by: Visitor) -> tuple[Plan, float | None]:
    """Plans a sweep, on a thread that makes its task, and estimates its seconds.

    Raises ValueError, in a sentence, for one that could not start.
    """

    def work(job: Job) -> tuple[Plan, float | None]:
        from attention_lab.models.sweeps.plan import plan

        counted = plan(spec, by=by)
        return counted, counted.seconds(usual_slots())

    described: dict[str, Any] = spec.to_dict() | {"name": ""}
    return _queue.result(json.dumps([described, by.id, by.all_rights], sort_keys=True, default=str), work)


def begin(spec: Spec, by: Visitor) -> Sweep:
    """Makes a sweep and lets it work. Raises ValueError or OSError, in a sentence, where that is refused."""
    sweep = _queue.run(lambda job: create(spec, by=by))
    start(sweep.name, by=by)
    return sweep


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
    """One row for each setting that varies, and one for another."""
    st.markdown("**What varies**")
    for row in range(1, min(max(state.rows_of(form.kept), default=0) + 1, state.MOST_ROWS) + 1):
        name, values = st.columns([3, 8], vertical_alignment="bottom")

        def renew(row: int = row) -> None:
            form.put({f"values{row}": state.usual_variation(info, form.kept[f"vary{row}"])})

        form.draw(f"vary{row}", name, then=renew)
        if form.kept[f"vary{row}"]:
            form.draw(f"values{row}", values)


def _shared(info: TaskInfo, fixed: State, form: dict[str, Any]) -> None:
    """The settings that all runs share: those of Train, without those that vary."""
    files = state.of_files(info)
    names = [name for name in fixed.params if name not in (*files, *state.rows_of(form).values())]
    changed = [name for name in names if fixed.kept[name] != fixed.params[name].default]
    count = f" ({len(changed)} changed)" if changed else ""
    with st.expander(f"Settings that all runs share{count}"):
        for name in files:
            if fixed.kept[name]:
                file = uploads.with_short_name(str(fixed.kept[name]))
                st.caption(phrases.plain(f"{label_of(name)}: {file}, as on Train"))
        fixed.draw_grid(names, 4)
        st.button("As the task comes", key="sweeps.usual", on_click=fixed.reset, args=(names,))


def _cost(info: TaskInfo, fixed: dict[str, Any], form: dict[str, Any], start: Any) -> None:
    """How many runs and about how long; the button that starts them."""
    sentences, spec = problems(), None
    board = _board("–", "–", "These settings make no sweep; see above.")
    try:
        spec = state.spec_of(info, fixed, form)
        with st.spinner("Counting the runs…"):
            plan, seconds = planned(spec, visitors.visitor())
        time = "–" if seconds is None else phrases.duration(seconds)
        board = _board(f"{plan.n_runs:,}", time, notice(plan, seconds))
    except (ValueError, OSError) as error:
        sentences.append(_sentence(str(error)))
    show_problems(dict.fromkeys(sentences))
    impossible = bool(spec is None or sentences or runs.refusals())  # which the page says

    def begin_it() -> None:
        sweep = None if spec is None else attempt(lambda: begin(spec, visitors.visitor()), _sentence)
        if sweep is not None:
            state.open_sweep(sweep.name)

    start.button("Start", type="primary", disabled=impossible, on_click=begin_it, key="sweeps.start")
    # There is nothing to take away before the start but the link, which the browser copies.
    on_page.show(board, key=KEY, part="before", link=link_of(info, fixed, form), keep=False)


def _sentence(problem: str) -> str:
    words = without_places(uploads.without_names(problem.replace(f"{uploads.folder()}/", "")))
    return words if "=" in words.split()[0] else phrases.capitalised(words)


def _board(n_runs: str, time: str, notice: str) -> Board:
    facts = [Fact(label="runs", values=n_runs), Fact(label="time, about", values=time)]
    return Board(rows=[[Facts(facts=facts)]], notice=notice)


def notice(plan: Plan, seconds: float | None) -> str:
    """The plan in words: settings, seeds, runs, time, and what they are compared by."""
    n_slots, better = usual_slots(), "less" if plan.spec.direction == "minimize" else "more"
    at_once = f"on {n_slots} slot{'s' * (n_slots != 1)}"
    time = "" if seconds is None else f", about {phrases.duration(seconds)} {at_once}"
    return f"**{plan.sentence}**{time}. Trials are compared by {plan.spec.score}: {better} is better."


def link_of(info: TaskInfo, fixed: dict[str, Any], form: dict[str, Any]) -> dict[str, str]:
    """The link that opens this form: what differs from the task's usual one."""
    fields = [f"{part}{row}" for row in state.rows_of(form) for part in ("vary", "values")]
    link = {**settings.to_link(info, fixed), "sweep": state.NEW}
    return link | state.form_of(info).link([*fields, *state.SHARED])
