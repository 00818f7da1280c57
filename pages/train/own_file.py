"""A file of a visitor's own on Train: handed in, said how it is read, its columns chosen, put aside again."""

from typing import Any

import streamlit as st

from attention_lab.models.byte_units import MB, readable
from attention_lab.models.data.text_files import AUTO, TITLES
from attention_lab.models.fields import Option
from attention_lab.pages.shared.browser import uploading
from attention_lab.pages.shared.state import State, refuse
from attention_lab.pages.shared.training import uploads
from attention_lab.pages.shared.training.settings import label_of
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo

_ANOTHER = "nothing starts until you choose another file or press Without a file"


def draw(info: TaskInfo, inputs: State, option: Option) -> None:
    """Draws the field for an upload, whose name is the setting, and the options that are about the file."""
    key = inputs.key(option.name)
    uploading.expect()
    st.file_uploader(
        f"{label_of(option.name)}: {option.help}",
        key=f"{key}.upload",
        on_change=_take,
        args=(inputs, option),
        help=f"Files that end in {', '.join(option.file)}",
        max_upload_size=uploads.MAX_BYTES // MB,  # Streamlit's MB are larger: `keep` refuses what is between
    )
    name = inputs.kept[option.name]
    refused = st.session_state.get(f"{key}.refused", "")
    if name and not refused:
        st.text(f"Reads {uploads.called(name)}")
    if name or refused:
        st.button("Without a file", key=f"{key}.clear", on_click=_choose, args=(inputs, option.name, ""))
    _files_to_choose(inputs, option.name)
    if name and not refused:
        about = {each.name: _menu(inputs, each, name) for each in info.options if each.of == option.name}
        inputs.draw_grid(list(about), changes=about)


def refusals(info: TaskInfo, inputs: State) -> list[str]:
    """What was wrong with files that were handed in, until another is chosen: nothing else may start
    meanwhile, since a run without the file would be another than the visitor believes.
    """
    sentences = [
        st.session_state.get(f"{inputs.key(option.name)}.refused") for option in info.options if option.file
    ]
    return [f"{sentence}; {_ANOTHER}." for sentence in sentences if sentence]


def _take(inputs: State, option: Option) -> None:
    """Keeps what was handed in, or notes why not. A file that was refused is not forgotten with its ×."""
    key = inputs.key(option.name)
    try:
        handed = uploading.handed_in(f"{key}.upload")
        if handed is None:
            if not st.session_state.get(f"{key}.refused"):
                _choose(inputs, option.name, "")
            return
        if not handed.name.lower().endswith(option.file):
            one = f"{handed.name[:80]!r} is no file that ends in {', '.join(option.file)}"
            raise ValueError(f"{one}; save it as one of these")
        _choose(inputs, option.name, uploads.keep(handed.getbuffer(), handed.name))
    except ValueError as error:
        st.session_state[f"{key}.refused"] = str(error)


def _choose(inputs: State, field: str, name: str) -> None:
    """Reads this file from now on; "" is none."""
    st.session_state.pop(f"{inputs.key(field)}.refused", None)
    inputs.put({field: name})


def _menu(inputs: State, option: Option, file: str) -> dict[str, Any]:
    """How an option about the file is drawn: with its columns, or encodings by what people call them."""
    if option.column:
        columns = uploads.columns_on_offer(file, inputs.kept)
        return uploads.column_menu(columns, inputs.kept[option.name])
    if option.name == "encoding":
        return {"format_func": lambda name: TITLES.get(name, "UTF-8, or by its mark")}
    return {"format_func": lambda name: "as it shows" if name == AUTO else name}


def _files_to_choose(inputs: State, field: str) -> None:
    """Draws the visitor's kept files, to be used again, or deleted before they expire."""
    files = uploads.mine()
    if not files:
        return

    def delete(name: str) -> None:
        try:
            uploads.delete(name)
        except ValueError as error:
            refuse(str(error))
        if inputs.kept[field] == name:
            inputs.put({field: ""})

    with st.expander(f"Your files ({len(files)})"):
        for upload in files:
            key = f"{inputs.key(field)}.{upload.name}"
            tip = f"Kept for {upload.days_left} more days, longer if it is read"
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(f"{uploads.called(upload.name)}, {readable(upload.size)}", width="content")
                st.button(
                    "Read", type="tertiary", key=f"{key}.read", help=tip,
                    on_click=_choose, args=(inputs, field, upload.name),
                )  # fmt: skip
                drop = f"{key}.delete"
                st.button("Delete", type="tertiary", key=drop, on_click=delete, args=(upload.name,))
