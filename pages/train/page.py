"""Train: choose a task, a model and how it is trained; then watch its heads form."""

import streamlit as st

from attention_lab.pages.shared import words
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.board.component import board
from attention_lab.pages.shared.page_parts import heading
from attention_lab.pages.shared.state import refuse
from attention_lab.pages.shared.training import runs
from attention_lab.pages.train import data, form, start, state, watch
from attention_lab.pages.train.form import PRESETS


def page() -> None:
    state.enter()
    board.load()
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
        st.markdown("for", width="content")
        for label, preset in PRESETS.items():
            st.button(label, on_click=inputs.put, args=(inputs.defaults() | preset(info),))
        state.page().draw("name")
    st.text(words.say(info.about_run(inputs.kept)).replace("`", ""))
    places = st.container(), st.container()
    with places[1]:
        form.draw(info)
    with places[0]:
        ready = start.draw(info, inputs.kept, row)
    data.draw(ready.data if ready else None)


page()
