"""The take-away: the figure, the numbers behind it and the lines of Python that give them."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from models.byte_units import MB, readable
from models.limits import in_force
from pages.explore import computing
from pages.explore.state import Inputs
from pages.explore.taken import Taken, archive, table, taken
from pages.shared import takeaway
from pages.shared.problems import say
from pages.shared.shown import last
from pages.shared.takeaway import Download
from viz_core import to_html

LARGEST_ARCHIVE = in_force().trace_mb * MB


@st.dialog("Take away", width="large")
def dialog(act: dict[str, Any]) -> None:
    """Offers what the stage shows (`act` is the state of its view) as files and code."""
    show_all(act, dark=st.context.theme.type == "dark")


def show_all(act: dict[str, Any], *, dark: bool) -> None:
    """Draws the inside of the dialog."""
    inputs = last("explore", Inputs())
    with computing.told(inputs, st.empty()):
        try:
            found: Taken = computing.runner(inputs, is_wanted=computing.still_wanted)(
                taken, inputs, act, dark
            )
        except ValueError as error:
            say([str(error)])
            return
    run = computing.runner(inputs)  # a file is made when its button is pressed, without a page
    downloads, note = _downloads(found, lambda: run(table, inputs, act), lambda: run(archive, inputs, act))
    takeaway.show(
        found.figure, downloads, title=found.title, file_name=found.file_name, code=found.code, note=note
    )


def _downloads(
    found: Taken, make_table: Callable[[], str], make_archive: Callable[[], bytes]
) -> tuple[list[Download], str | None]:
    name, size = found.file_name, found.archive_bytes
    files = [
        Download("Figure, offline HTML", lambda: to_html(found.figure), f"{name}.html", "text/html"),
        Download(f"{found.table}, CSV", make_table, f"{name}.csv", "text/csv"),
    ]
    if size <= LARGEST_ARCHIVE:
        whole = Download("Whole trace, NPZ", make_archive, "trace.npz", "application/octet-stream")
        return [*files, whole], None
    return files, (
        f"The whole trace has {readable(size)}; at most {readable(LARGEST_ARCHIVE)} are packed. "
        "Take fewer words, layers or heads, or run the lines below."
    )
