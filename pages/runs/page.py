"""Runs: every training run, to compare, scrub through, try and take away."""

import os
import shlex
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import streamlit as st

from attention_lab.models.files import FileError
from attention_lab.models.zoo.folders import runs_root
from attention_lab.pages.runs import actions, compare, listing, report, scrubber, state, try_it
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.page_parts import heading, show_problems
from attention_lab.pages.shared.phrases import capitalised
from attention_lab.pages.shared.state import problems
from attention_lab.pages.shared.table import table
from attention_lab.pages.shared.training import curves, runs
from attention_lab.pages.shared.training.runs import Run
from attention_lab.pages.shared.visitors import without_places

KEY = "runs.board"


def page() -> None:
    listed = runs.every()
    state.enter(listed)
    on_page.component.load()
    shipped = runs.find(state.FIRST)
    if shipped and "walk" in st.query_params and state.chosen() == [state.FIRST]:
        show_problems(problems())
        _film(shipped)
        return
    table.load()
    with heading("Runs", state.PAGE):
        st.markdown("Open one to scrub through its training; tick several to compare.", width="content")
        state.STATE.draw("filter")
    show_problems(runs.refusals(), of="folder")
    show_problems(problems())
    if not listed:
        st.markdown("No run yet: start one on [Train](/train).")
        return
    listing.draw(listed)
    if not visitors.is_class():  # who has the machine may read the runs in TensorBoard, too
        folder, here = runs_root(), Path.cwd()
        place = os.path.relpath(folder) if folder.absolute().is_relative_to(here) else str(folder)
        command = shlex.join(["tensorboard", "--logdir", place])
        st.caption(f"The same numbers in TensorBoard: `{command}`")
    chosen = [run for run_id in state.chosen() if (run := runs.find(run_id))]
    if len(chosen) == 1:
        _one(chosen[0])
    elif chosen:
        _several(chosen)


def _film(run: Run) -> None:
    """How its heads form while its loss falls, and nothing else: a station of the walk."""
    content = scrubber.scrubbed(run)
    (loss, *_), *heads, _ = content.rows
    content, step = replace(content, rows=[*heads, [loss]]), state.STATE.kept["step"]
    at = None if step is None else float(step)
    on_page.show(content, key=KEY, part=run.id, link=state.STATE.link(["runs"]), at=at, fits=True)


def _one(run: Run) -> None:
    status = runs.status_of(run)
    row = st.container(horizontal=True, vertical_alignment="center", key="runs_actions")
    run = actions.draw(run, status, row)
    if status.outcome:
        st.text(f"{capitalised(status.outcome)}.")
    if status.sentence and (
        status.state in ("queued", "failed") or status.refused or not (status.live or status.step)
    ):
        st.text(without_places(capitalised(status.sentence)))
    actions.show_notes(run)
    view = state.view_state()
    with row:
        drawn = curves.draw_view(view, parts=curves.has_norms(run.records()))
    content = scrubber.scrubbed(run, drawn)
    parameters = {**state.STATE.link(["filter", "sort", "weights"]), **view.link(view.params)}
    step = state.STATE.kept["step"]  # to begin with: the link's, else the last
    at = None if content.scrub is None else float(content.scrub.values[-1] if step is None else step)
    film = len(content.rows) - bool(content.scrub)  # what the training did besides is no part of it
    link = {"runs": run.id, **parameters}
    on_page.show(content, key=KEY, part=run.id, link=link, at=at, presents=film, where=run.title)
    on_page.take_away(run.title, run.id, content, lambda frame: _code(run), _facts([run]))
    if not status.watched:  # its weights stay with whoever trains it
        report.draw(run, status)
        try_it.draw(run)


def _several(chosen: list[Run]) -> None:
    ids = ".".join(run.id for run in chosen)
    view = state.view_state()
    content = compare.board_of(chosen, curves.draw_view(view, heads=False))
    heads_link = compare.heads_link(chosen)
    if heads_link:
        st.page_link("beside/page.py", label="Compare their heads →", query_params=heads_link)
    link = {"runs": ids, **state.STATE.link(["filter", "sort"]), **view.link(view.params)}
    on_page.show(
        content, key=KEY, part="compare", link=link, presents=len(content.rows), where="Runs compared"
    )
    with st.container(key="runs_verdict"):
        for sentence in compare.sentences(listing.grouped(chosen))[1:]:
            st.text(sentence)
    for at, (title, rows) in enumerate(compare.tables(chosen)):
        st.markdown(f"**{title}**")
        table.show(rows, key=f"runs.table.{at}")
    on_page.take_away("Runs compared", "runs", content, lambda frame: _code(chosen[0]), _facts(chosen))


def _facts(chosen: list[Run]) -> dict[str, object]:
    """What a figure of runs is of, where it is taken away; of a damaged run what is known."""
    settings = []
    for run in chosen if on_page.wants_take_away() else ():
        with suppress(FileError):
            settings.append(run.folder.description().get("training", {}))
    seeds = {str(each["seed"]) for each in settings if "seed" in each}
    return {"runs": ", ".join(run.id for run in chosen), "seed": ", ".join(sorted(seeds))}


def _code(run: Run) -> str:
    """Lines of Python that open a run with all that is known of it."""
    patterns = "patterns = {step: run.snapshot(step) for step in run.snapshots()}"
    return f"{runs.records_and_model(run)}\n{patterns}"


page()
