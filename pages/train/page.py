"""Train: choose a task, a model and how it is trained; then watch its heads form."""

import streamlit as st

from attention_lab.pages.shared import words
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.page_parts import heading
from attention_lab.pages.shared.state import refuse
from attention_lab.pages.shared.training import runs, settings
from attention_lab.pages.train import data, form, start, state, watch


def page() -> None:
    state.enter()
    on_page.component.load()
    run = runs.find(state.watched())
    if state.watched() and run is None:
        gone = state.watched()[:100]
        refuse(f"The run {gone!r} is not there any more; choose one on Runs.")
        state.watch("")
    if run is None or run.shipped:
        _settings()
        return
    if on_page.wants_take_away():  # before the fragment that asks for it, which else runs the page anew
        watch.take_away(run)
    watch.draw(run)


def _settings() -> None:
    info = state.task()
    inputs = state.settings_of(info)
    row = heading("Train", state.PAGE)
    with row:
        state.page().draw("task")
    left, right = st.columns(2, gap="medium")
    with left:
        st.text(words.say(info.about_run(inputs.kept)).replace("`", ""))
        fields, place = st.container(), st.container()
        with fields:
            form.draw_first(info)
        form.draw_others(info)
        with place:
            ready = start.draw(info, inputs.kept, row)
    with right:
        data.draw(ready.data if ready else None, settings.to_link(info, inputs.kept))


page()
