"""What a visitor takes away from a lab page: the board as a figure, its numbers, the code that made them."""

import streamlit as st

from pages.shared import takeaway_dialog
from pages.shared.board import numbers
from pages.shared.takeaway_dialog import Download
from viz_core import to_html
from viz_core.boards import Board, board_figure


@st.dialog("Take away", width="large")
def dialog(title: str, file_name: str, board: Board, frame: int, code: str) -> None:
    """Offers a board as files. frame: the one on the screen; the browser names it, so it is not trusted.

    The sizes are bounded by what the board's message may hold, and by `numbers.MOST_ROWS`.
    """
    last = len(board.scrub.values) - 1 if board.scrub else 0
    frame = max(0, min(frame, last))
    dark = st.context.theme.type == "dark"

    def page() -> str:
        return to_html(board_figure(board, frame=frame, frames=True, dark=dark, title=title))

    files = [Download("Figure, offline HTML", page, f"{file_name}.html", "text/html")]
    note = None
    try:
        text = numbers.table(board, frame)
        files.append(Download("Numbers, CSV", lambda: text, f"{file_name}.csv", "text/csv"))
    except ValueError as error:
        note = str(error)
    name = "Numbers of all frames, NPZ" if board.scrub else "Numbers, NPZ"
    files.append(
        Download(name, lambda: numbers.archive(board), f"{file_name}.npz", "application/octet-stream")
    )
    figure = board_figure(board, frame=frame, dark=dark, title=title)
    takeaway_dialog.show(figure, files, title=title, file_name=file_name, code=code, note=note)
