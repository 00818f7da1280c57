"""The settings of a run that has not started: widgets made from what the task and the configs say."""

from collections.abc import Sequence

import streamlit as st

from models.byte_units import MB, readable
from pages.shared.browser import uploading
from pages.shared.state import State, refuse
from pages.shared.training import settings, uploads
from pages.shared.training.labels import label_of
from pages.shared.training.tasks_on_offer import Option, TaskInfo
from pages.train import state

SHOWN = ("steps", "batch_size", "learning_rate", "schedule", "warmup_steps", "seed")
DEVICE = ("device", "precision", "threads", "compile")
PAIR = 2


def draw(info: TaskInfo) -> None:
    """All settings in three columns: the task's, the model's, the training's."""
    given = state.settings_of(info)
    task, model, training = st.columns(3, gap="medium")
    with task, st.container(border=True):
        st.markdown("**Task**")
        _options(info, given)
        st.markdown("**Device**")
        _pairs(given, DEVICE)
        state.page().draw("keep_going")
    with model, st.container(border=True):
        st.markdown("**Model**")
        _pairs(given, settings.size_names(info))
        _head_size(given.kept["d_model"], given.kept["n_heads"])
        for name, why in info.fixes.items():
            st.caption(f"{label_of(name)}: {why}; the task says so")
    with training, st.container(border=True):
        st.markdown("**Training**")
        _pairs(given, SHOWN)
        with st.expander("More"):
            _pairs(given, [name for name in settings.training_names() if name not in (*SHOWN, *DEVICE)])


def _head_size(d_model: int, n_heads: int) -> None:
    """Says how wide each head is, or that the heads do not divide the model's width."""
    if d_model % n_heads == 0:
        st.caption(f"d_head = {d_model} / {n_heads} = {d_model // n_heads}")
    else:
        st.caption(f"d_head = {d_model} / {n_heads} is no whole number")


def _options(info: TaskInfo, given: State) -> None:
    if not info.options:
        st.caption("This task has no options.")
    for option in info.options:
        if option.file:
            _file(given, option)
        else:
            given.draw(option.name)


def _file(given: State, option: Option) -> None:
    """Draws the field for an upload; the kept file's name is the setting."""
    key = given.key(option.name)

    def take() -> None:
        handed = st.session_state.get(f"{key}.upload")
        try:
            name = uploads.keep(handed.getbuffer(), handed.name) if handed else ""
            given.put({option.name: name})
        except ValueError as error:
            refuse(str(error))

    uploading.expect()
    # Not every format has an ending: train-images-idx3-ubyte.
    named = all(ending.startswith(".") for ending in option.file)
    endings = [ending.removeprefix(".") for ending in option.file] if named else None
    st.file_uploader(
        f"{label_of(option.name)}: {option.about}",
        type=endings,
        key=f"{key}.upload",
        on_change=take,
        max_upload_size=uploads.MAX_BYTES // MB,  # Streamlit's MB are larger: `keep` refuses what is between
    )
    name = given.kept[option.name]
    if name:
        st.caption(f"Reads the file {name[:8]}…{name[64:]}")
        st.button("Without a file", key=f"{key}.clear", on_click=given.put, args=({option.name: ""},))
    _kept_files(given, option.name)


def _kept_files(given: State, field: str) -> None:
    """Draws the visitor's kept files, to be used again, or deleted before they expire."""
    found = uploads.mine()
    if not found:
        return

    def delete(name: str) -> None:
        try:
            uploads.delete(name)
        except ValueError as error:
            refuse(str(error))
        if given.kept[field] == name:
            given.put({field: ""})

    with st.expander(f"Your files ({len(found)})"):
        for upload in found:
            key = f"{given.key(field)}.{upload.name}"
            left = f"Kept for {upload.days_left} more days, longer if it is read"
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(f"{upload.name[:8]}…{upload.name[64:]}, {readable(upload.size)}", width="content")
                st.button(
                    "Read", type="tertiary", key=f"{key}.read", help=left,
                    on_click=given.put, args=({field: upload.name},),
                )  # fmt: skip
                drop = f"{key}.delete"
                st.button("Delete", type="tertiary", key=drop, on_click=delete, args=(upload.name,))


def _pairs(given: State, names: Sequence[str]) -> None:
    """Widgets side by side, two in a row."""
    for at in range(0, len(names), PAIR):
        for place, name in zip(st.columns(PAIR), names[at : at + PAIR], strict=False):
            given.draw(name, place)
