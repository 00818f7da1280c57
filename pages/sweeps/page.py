"""Lists sweeps, starts them, and compares their runs as one."""

import streamlit as st

from attention_lab.models.files import FileError
from attention_lab.models.sweeps import Sweep
from attention_lab.models.sweeps.sweep import DONE
from attention_lab.pages.shared import phrases, words
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.browser.acts import Act
from attention_lab.pages.shared.browser.clock import run_again
from attention_lab.pages.shared.page_parts import heading, show_problems
from attention_lab.pages.shared.table import Row, message, table
from attention_lab.pages.shared.training import runs
from attention_lab.pages.sweeps import form, open_sweep, state
from attention_lab.viz_core.labels import short

SECONDS = 2.0
KEY = "sweeps.table"
COLUMNS = ("sweep", "task", "what varies", "status", "#trials", "best", "#worked", "made")


def _draw(opened: str, was_live: bool) -> None:
    """The table and the open sweep, read again every two seconds as long as a sweep works."""
    if st.session_state.pop("sweeps_acted", False):
        st.rerun()  # the page as a whole, which shows what was opened
    if was_live:
        run_again(SECONDS, KEY)
    listed, sweep = state.all_sweeps(), state.find_sweep(opened)
    if listed:
        rows = [row_of(each, opened) for each in listed]
        table.show(message("All sweeps", COLUMNS, rows), key=KEY, on_act=_on_act)
    if sweep is not None:
        open_sweep.draw(sweep)
    if bool(opened) != bool(sweep) or _any_live() != was_live or on_page.wants_take_away():
        st.rerun()  # the clock stops with the last sweep, and a dialog outlives its ticks


def _any_live() -> bool:
    return any(sweep.status().live for sweep in state.all_sweeps())


def _on_act(act: Act) -> None:
    if act["type"] == "open":
        state.open_sweep(str(act["id"]))
        st.session_state.sweeps_acted = True


def row_of(sweep: Sweep, opened: str) -> Row:
    """How a sweep stands, in words; a damaged one says so."""
    status = sweep.status()
    try:
        spec, trials, best = sweep.spec, sweep.trials(), sweep.best()
    except FileError as error:
        cells = [sweep.name, "", f"damaged: {error}", status.state, "–", "–", "–", sweep.created[:10]]
        return Row(sweep.name, cells, opened=sweep.name == opened)
    ended = sum(trial.state in DONE for trial in trials)
    value = "–" if best is None or best.value is None else f"{spec.score or 'score'} {short(best.value)}"
    cells = [
        sweep.name,
        spec.task,
        ", ".join(spec.space),
        words.say("shipped" if sweep.shipped else status.state),
        f"{ended:,} of {spec.trials:,}",
        value,
        phrases.duration(status.seconds) if status.seconds else "–",
        sweep.created[:16].replace("T", " "),
    ]
    return Row(sweep.name, cells, opened=sweep.name == opened)


def page() -> None:
    state.enter()
    on_page.component.load()
    table.load()
    sweep = state.opened()
    with heading("Sweeps", state.PAGE):
        st.markdown("Which settings are best? Many runs with several seeds answer.", width="content")
        if sweep is not None:
            st.button("New sweep", on_click=state.open_sweep, args=(state.NEW,), key="sweeps.new")
    show_problems(runs.refusals(), of="folder")
    if on_page.wants_take_away():  # before the fragment that asks for it, which else runs the page anew
        open_sweep.take_away(sweep)
    st.fragment(_draw)(sweep.name if sweep else "", _any_live())
    if sweep is None:
        form.draw()


page()
