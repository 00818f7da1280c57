"""What a run would cost, and its start."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_lab.models.byte_units import readable
from attention_lab.models.runs import jobs
from attention_lab.pages.shared import phrases, visitors
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.browser.clock import run_again
from attention_lab.pages.shared.page_parts import show_problems
from attention_lab.pages.shared.state import attempt, problems, refuse
from attention_lab.pages.shared.training import runs, settings, uploads
from attention_lab.pages.shared.training.prepare import Prepared, prepared
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo
from attention_lab.pages.train import download, own_file, state
from attention_lab.viz_core.boards import Board, Fact, Facts

KEY = "train.before"
SOON_SECONDS, LATER_SECONDS = 2.0, 15.0
"""Until the next look at what is told: while a start is refused, and otherwise."""
NO_RUN = "These settings make no run; see above."


def draw(info: TaskInfo, values: dict[str, Any], heading: DeltaGenerator) -> Prepared | None:
    """Parameters, memory and time expected; sentences where nothing can start. The button is in `heading`.

    Returns what could start; None where nothing can.
    """
    file_refusals = own_file.refusals(info, state.settings_of(info))
    sentences = problems() + file_refusals
    ready: Prepared | None = None
    missing = why = ""
    try:
        with st.spinner("Reading the task's data…"):
            ready = prepared(info, values)
    except ValueError as error:
        # Without the name under which this server keeps an uploaded file.
        missing, why = getattr(error, "source", ""), str(error).replace(f"{uploads.folder()}/", "")
        why = uploads.without_names(why)
        why = phrases.capitalised(why) if why.startswith(uploads.THE_FILE) else why
    if file_refusals:
        ready = None
    why = why or _refusal(ready)
    show_problems(dict.fromkeys([*sentences, why] if why else sentences))
    if missing:
        download.offer(missing)
    heading.button(
        "Start", type="primary", disabled=ready is None or bool(why), on_click=_start, args=(ready,)
    )
    st.fragment(_before)(info, values, ready, why, sentences, [True])
    _going_on()
    return ready


def _refusal(ready: Prepared | None) -> str:
    """Why the run that stands ready could only be refused now; "" where it can start."""
    if ready is None:
        return ""
    try:
        jobs.check(ready.config, by=visitors.visitor(), keep_going=_keep_going())
    except ValueError as error:
        return str(error)
    return ""


def _before(
    info: TaskInfo,
    values: dict[str, Any],
    ready: Prepared | None,
    why: str,
    sentences: list[str],
    fresh: list[bool],
) -> None:
    """What is told before the start. It looks again by itself, and the whole page is drawn anew, with what it
    `said`, only where a run may start now or no longer may: that would close an open menu. fresh: empty once
    this was found out a while ago.
    """
    if fresh:
        fresh.clear()
    elif ready is not None and _refusal(ready) != why:
        refuse(*sentences)
        st.rerun()
    if ready is not None:
        run_again(SOON_SECONDS if why else LATER_SECONDS, KEY)
    # There is nothing to take away before the start but the link, which the browser copies.
    content, link = _board(ready, values), settings.to_link(info, values)
    on_page.show(content, key=KEY, part="before", link=link, keep=False)


def _board(ready: Prepared | None, values: dict[str, Any]) -> Board:
    known = None if ready is None else ready.seconds
    facts = [
        Fact(label="parameters", values=f"{ready.n_parameters:,}" if ready else "–"),
        Fact(label="memory, about", values=readable(ready.memory_bytes) if ready else "–"),
        Fact(label="time, about", values="–" if known is None else phrases.duration(known)),
        Fact(label="examples", values=f"{values['steps'] * values['batch_size']:,}"),
    ]
    notice = f"This run **{ready.device}**. {_assumed(ready)}" if ready else NO_RUN
    return Board(rows=[[Facts(facts=facts)]], notice=notice)


def _assumed(ready: Prepared) -> str:
    """What the time takes for granted."""
    if ready.seconds is None:
        return "How long a GPU takes is not known yet."
    return "Estimated from its arithmetic and this machine's speed now."


def _start(ready: Prepared | None) -> None:
    if ready is None:
        return
    name, by = str(state.page().kept["name"]).strip(), visitors.visitor()
    run_id = attempt(lambda: jobs.submit(ready.config, name=name, by=by, keep_going=_keep_going()))
    if run_id is not None:
        state.page().put({"name": ""})  # the next run is another
        state.watch(run_id)


def _keep_going() -> bool:
    return bool(state.page().kept["keep_going"])


def _going_on() -> None:
    """The runs that are live now and the visitor's to stop: a reload or a restart loses none."""
    live = [run for run in runs.every() if runs.may_change(run) and runs.status_of(run).live][:4]
    if not live:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="train_live"):
        st.markdown("**Going on now**", width="content")
        for run in live:
            name, key = phrases.plain(run.folder.name), f"train.watch.{run.id}"
            st.button(name, key=key, on_click=state.watch, args=(run.id,))
