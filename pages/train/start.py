"""What a run would cost, and its start."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.byte_units import readable
from models.runs import jobs, limits
from pages.shared import visitors, wording
from pages.shared.board.component import board
from pages.shared.browser.acts import Act
from pages.shared.problems import say
from pages.shared.state import problems, refuse
from pages.shared.training import runs, settings, uploads
from pages.shared.training.message import message
from pages.shared.training.prepare import Prepared, prepared
from pages.shared.training.tasks_on_offer import TaskInfo
from pages.train import download, own_file, state
from viz_core.boards import Board, Fact, Facts

KEY = "train.before"
SWEEPS = "sweeps/page.py"


def draw(info: TaskInfo, values: dict[str, Any], heading: DeltaGenerator) -> None:
    """Parameters, memory and time expected; sentences where nothing can start. The button is in `heading`."""
    held = own_file.refusals(info, state.settings_of(info))
    said = problems() + held
    ready: Prepared | None = None
    missing = ""
    try:
        with st.spinner("Reading the task's data…"):
            ready = prepared(info, values)
        limits.check_rights(ready.config.training, visitors.visitor(), keep_going=_keep_going())
        refused = False
    except ValueError as error:
        said.append(_told(error))
        missing, refused = getattr(error, "source", ""), True
    if held:
        ready, refused = None, True
    say(dict.fromkeys(said))
    if missing:
        download.offer(missing)
    heading.button("Start", type="primary", disabled=refused, on_click=_start, args=(ready,))
    link = settings.to_link(info, values)
    heading.page_link(
        SWEEPS, label="Sweep over this…", query_params={**link, "sweep": "+"}, disabled=bool(held)
    )  # fmt: skip
    board.show(message(_board(ready, values), part="before", link=link, keep=False), key=KEY, on_act=_on_act)
    _going_on()


def _told(error: ValueError) -> str:
    """The error's sentence, which does not quote the name under which this server keeps an uploaded file."""
    said = uploads.without_names(str(error).replace(f"{uploads.folder()}/", ""))
    return said[:1].upper() + said[1:] if said.startswith(uploads.THE_FILE) else said


def _on_act(act: Act) -> None:
    """There is nothing to take away before the start but the link, which the browser copies."""


def _board(ready: Prepared | None, values: dict[str, Any]) -> Board:
    seconds = wording.duration(ready.seconds) if ready and ready.seconds is not None else "–"
    facts = [
        Fact(label="parameters", values=f"{ready.n_parameters:,}" if ready else "–"),
        Fact(label="memory, about", values=readable(ready.memory_bytes) if ready else "–"),
        Fact(label="time, about", values=seconds),
        Fact(label="examples", values=f"{values['steps'] * values['batch_size']:,}"),
    ]
    notice = f"This run **{ready.device}**." if ready else "These settings make no run; see above."
    return Board(rows=[[Facts(facts=facts)]], notice=notice)


def _start(ready: Prepared | None) -> None:
    if ready is None:
        return
    try:
        name = str(state.page().kept["name"]).strip()
        run_id = jobs.submit(ready.config, name=name, by=visitors.visitor(), keep_going=_keep_going())
        state.page().put({"name": ""})  # the next run is another
        state.watch(run_id)
    except (ValueError, OSError) as error:
        refuse(str(error))


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
            st.button(
                wording.plain(run.folder.name),
                key=f"train.watch.{run.id}",
                on_click=state.watch,
                args=(run.id,),
            )
