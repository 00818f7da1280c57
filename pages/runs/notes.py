"""A run's tags and notes, edited in place, and what was changed when it was trained further."""

import streamlit as st

from models.runs import jobs
from models.runs.notes import MAX_NOTES, MAX_TAG, MAX_TAGS, notes_of, tags_of
from models.runs.results import changed_words, history_of
from pages.shared import visitors
from pages.shared.link import characters
from pages.shared.state import guard, refuse
from pages.shared.training import runs
from pages.shared.training.runs import Run

MOST_TAGS = MAX_TAGS * (MAX_TAG + 2)


def edit(run: Run) -> None:
    """A button that opens the fields for tags and notes."""
    described = runs.described(run)
    tags, notes = ", ".join(tags_of(described)), notes_of(described)
    keys = f"runs.tags.{run.id}", f"runs.notes.{run.id}"

    def save() -> None:
        said = [str(st.session_state.get(key, "")) for key in keys]
        try:
            jobs.annotate(run.id, tags=[said[0]], notes=said[1], by=visitors.visitor())
        except (ValueError, OSError) as error:
            refuse(str(error))

    with st.popover("Tags and notes…"):
        st.text_input("Tags, with commas between them", tags, max_chars=MOST_TAGS, key=keys[0])
        rule = characters(MOST_TAGS)
        guard(keys[0], rule.fits, lambda value: f"Tags: {rule.refusal(value)}", lambda: tags)
        st.text_area("Notes", notes, max_chars=MAX_NOTES, key=keys[1])
        longer = characters(MAX_NOTES)
        guard(keys[1], longer.fits, lambda value: f"Notes: {longer.refusal(value)}", lambda: notes)
        st.button("Save", on_click=save, key="runs.annotate")


def show(run: Run) -> None:
    """The tags, the notes and the history of a run, where it has any."""
    described = runs.described(run)
    tags, notes, changes = tags_of(described), notes_of(described), history_of(described)
    if not (tags or notes or changes):
        return
    with st.container(key="runs_notes"):
        if tags:
            st.text(f"Tags: {', '.join(tags)}")
        if notes:
            st.text(notes)
        for entry in changes:
            before = runs.find(str(entry.get("from", "")))
            whence = f" from “{before.title}”" if before else ""
            st.text(f"Trained further{whence}, {changed_words(entry)}")
