"""Runs: every training run, to compare, scrub through, try and take away."""

import os
import shlex
from pathlib import Path

import streamlit as st

from models.zoo.folders import runs_root
from pages.runs import actions, compare, listing, report, scrubber, state, try_it
from pages.shared import visitors
from pages.shared.board.component import board
from pages.shared.browser.component import Act
from pages.shared.page_parts import show_problems
from pages.shared.state import problems
from pages.shared.table.component import table
from pages.shared.training import curves, runs
from pages.shared.training.message import message
from pages.shared.training.runs import Run, history_of
from pages.shared.visitors import without_places
from viz_core.boards import Board

KEY = "runs.board"


def page() -> None:
    listed = runs.every()
    state.enter(listed)
    board.load()
    table.load()
    with st.container(horizontal=True, vertical_alignment="center", key="runs_heading"):
        st.html("<h1>Runs</h1>", width="content")
        st.markdown("Open one to scrub through its training; tick several to compare them.", width="content")
        state.STATE.draw("filter")
    show_problems(runs.refusals(), of="folder")
    show_problems(problems())
    if not listed:
        st.markdown("No run yet: start one on [Train](/train).")
        return
    listing.draw(listed)
    _events()
    chosen = [run for run_id in state.chosen() if (run := runs.find(run_id))]
    if len(chosen) == 1:
        _one(chosen[0])
    elif chosen:
        _several(chosen)


def _events() -> None:
    """Says to whoever has the machine that TensorBoard reads the runs, too."""
    if not visitors.is_class():
        command = shlex.join(["tensorboard", "--logdir", _shown(runs_root())])
        st.caption(f"The same numbers in TensorBoard, where it is installed: `{command}`")


def _shown(folder: Path) -> str:
    """A folder as it is named in the folder in which the app was started."""
    return os.path.relpath(folder) if folder.absolute().is_relative_to(Path.cwd()) else str(folder)


def _one(run: Run) -> None:
    status = runs.status_of(run)
    run = actions.draw(run, status)
    if status.outcome:
        st.text(f"{status.outcome[:1].upper()}{status.outcome[1:]}.")
    if status.sentence and (
        status.state in ("queued", "failed") or status.refused or not (status.live or status.step)
    ):
        st.text(without_places(status.sentence[:1].upper() + status.sentence[1:]))
    actions.show_notes(run)
    view = state.view_state()
    entries = history_of(run.folder.path / "metrics.jsonl").entries()
    shown = scrubber.scrubbed(run, curves.draw_view(view, parts=curves.has_norms(entries)))
    parameters = {**state.STATE.link(["filter", "sort", "weights"]), **view.link(view.params)}
    _board(shown, part=run.id, link={"runs": run.id, **parameters}, at=_at(shown))
    if "takeaway" in st.session_state:
        _take_away(run.title, run.id, shown, run)
    report.draw(run, status)
    try_it.draw(run)


def _at(shown: Board) -> float | None:
    """The step to begin with: the link's, else the last."""
    if shown.scrub is None:
        return None
    step = state.STATE.kept["step"]
    return float(shown.scrub.values[-1] if step is None else step)


def _several(chosen: list[Run]) -> None:
    ids = ".".join(run.id for run in chosen)
    view = state.view_state()
    shown = compare.board_of(chosen, curves.draw_view(view, heads=False))
    link = compare.heads_link(chosen)
    if link:
        st.page_link("beside/page.py", label="Compare their heads →", query_params=link)
    _board(
        shown,
        part="compare",
        link={"runs": ids, **state.STATE.link(["filter", "sort"]), **view.link(view.params)},
        at=None,
    )
    with st.container(key="runs_verdict"):
        for sentence in compare.sentences(listing.grouped(chosen))[1:]:
            st.text(sentence)
    for at, (title, rows) in enumerate(compare.tables(chosen)):
        st.markdown(f"**{title}**")
        table.show(rows, key=f"runs.table.{at}", on_act=_nothing)
    if "takeaway" in st.session_state:
        _take_away("Runs compared", "runs", shown, chosen[0])


def _nothing(act: Act) -> None:
    """These rows cannot be chosen."""


def _board(shown: Board, *, part: str, link: dict[str, str], at: float | None) -> None:
    def on_act(act: Act) -> None:
        st.session_state.takeaway = act

    try:
        board.show(message(shown, part=part, link=link, at=at), key=KEY, on_act=on_act)
    except ValueError as error:  # too large for a message
        st.text(str(error))


def _take_away(title: str, file_name: str, shown: Board, run: Run) -> None:
    from pages.shared.board import takeaway  # Plotly's figures are needed only now

    frame = st.session_state.pop("takeaway")["frame"]
    code = (
        f"{runs.opening(run)}\n"
        "patterns = {step: run.snapshot(step) for step in run.snapshots()}\n"
        f"records, model = run.metrics(), run.model({'' if run.which == 'last' else repr(run.which)})"
    )
    takeaway.dialog(title, file_name, shown, frame, code)


page()
