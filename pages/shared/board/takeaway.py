"""What a visitor takes away from a board: a figure, its numbers (one frame as a table, all frames as
arrays), and the code that made them.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import streamlit as st

from attention_lab.models.spreadsheet import csv_text
from attention_lab.pages.shared import takeaway_dialog, words
from attention_lab.pages.shared.board.message import message
from attention_lab.pages.shared.takeaway_dialog import Download, Web
from attention_lab.viz_core.boards import Board, Panel, board_figure, panels_in_words
from attention_lab.viz_core.boards.board import scrub_words
from attention_lab.viz_core.paper import Bundle
from attention_lab.viz_core.viewer.static.documents import view_as_file

MOST_ROWS = 200_000
_HEAD = ("panel", "row_position", "row", "column_position", "column", "x", "value", "low", "high", "text")
_WORDS = ("title", "name", "label", "unit", "row_axis", "column_axis", "x_label", "y_label")
_NAMES = ("rows", "columns", "labels", "names", "tokens", "words")
Row = tuple[Any, ...]
Facts = Mapping[str, object]


def table(board: Board, frame: int) -> str:
    """All numbers of one frame as CSV, one per line; those of curves with x and the bounds of their bands.

    Raises ValueError if there are more than 200,000.
    """
    rows = list(islice(_rows(board, frame), MOST_ROWS + 1))
    if len(rows) > MOST_ROWS:
        raise ValueError(f"The figure has over {MOST_ROWS:,} numbers; the NPZ file holds all.")
    return csv_text([_HEAD, *((*row, *[None] * (len(_HEAD) - len(row))) for row in rows)])


def archive(board: Board) -> bytes:
    """All arrays with all frames as NPZ, named after panel and field, such as `panel2.values`; no pickles."""
    arrays = dict(_arrays("scrub", board.scrub)) if board.scrub else {}
    for number, panel in _panels(board):
        arrays |= dict(_arrays(f"panel{number}", panel))
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def _panels(board: Board) -> Iterator[tuple[int, Panel]]:
    """The panels that hold numbers, counted from 1."""
    panels = [panel for row in board.rows for panel in row if panel.holds_numbers]
    return enumerate(panels, start=1)


def _arrays(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, np.ndarray):
        yield name, value
    elif is_dataclass(value):
        for spec in fields(value):
            yield from _arrays(f"{name}.{spec.name}", getattr(value, spec.name))
    elif isinstance(value, str | list | tuple) and name.rpartition(".")[2] in (*_WORDS, *_NAMES):
        if value:
            yield name, np.array(value, dtype=str)
    elif isinstance(value, list | tuple):
        for at, entry in enumerate(value):
            if is_dataclass(entry):
                yield from _arrays(f"{name}{at + 1}", entry)


def _rows(board: Board, frame: int) -> Iterator[Row]:
    if board.scrub:
        yield "scrub", None, board.scrub.label, None, None, None, board.scrub.values[frame], None, None
    for number, panel in _panels(board):
        name = f"{number} {getattr(panel, 'title', '')}".strip()
        for row in panel.numbers(frame):
            yield name, *row


@st.dialog("Take away", width="large")
def dialog(
    title: str, file_name: str, board: Board, frame: int, code: str, facts: Facts, sources: Sequence[str],
    web: Web,
) -> None:  # fmt: skip
    """Offers a board as files. frame: the one on the screen; the browser names it, so it is not trusted.
    facts, sources: what it is of, and texts that name papers, as a `Bundle` has them. web: for a web page.

    The sizes are bounded by what the board's message may hold, and by `numbers.MOST_ROWS`.
    """
    last = len(board.scrub.values) - 1 if board.scrub else 0
    frame = max(0, min(frame, last))
    dark, said = st.context.theme.type == "dark", words.given()

    def page() -> str:
        at = float(board.scrub.values[frame]) if board.scrub else None
        sent = message(board, part=file_name, link={}, at=at, keep=False, fits=True, where=title)
        return view_as_file("board", title, sent, words=said)

    files = [Download("Figure, offline HTML", page, f"{file_name}.html", "text/html")]
    note = None
    try:
        text = table(board, frame)
        files.append(Download("Numbers, CSV", lambda: text, f"{file_name}.csv", "text/csv"))
    except ValueError as error:
        note = str(error)
    name = "Numbers of all frames, NPZ" if board.scrub else "Numbers, NPZ"
    files.append(Download(name, lambda: archive(board), f"{file_name}.npz", "application/octet-stream"))
    figure = board_figure(board, frame=frame, dark=dark, title=title)
    notice = board.notice if isinstance(board.notice, str) else board.notice[frame]
    at = {board.scrub.label: scrub_words(board.scrub, frame)} if board.scrub else {}

    def paper() -> Bundle:
        chosen = _panels_on_paper(board)
        return Bundle(
            title=title, figure=lambda width: board_figure(chosen, frame=frame, width=width), code=code,
            said=f"{panels_in_words(chosen, frame)}. {notice}", facts={**facts, **at},
            sources=(notice, *sources),
        )  # fmt: skip

    takeaway_dialog.show(
        figure, files, title=title, file_name=file_name, code=code, note=note, paper=paper, web=web
    )


def _panels_on_paper(board: Board) -> Board:
    """The board with the panels that a visitor chooses, where it has several."""
    panels = [panel for row in board.rows for panel in row]
    names = {at: getattr(panel, "title", "") or f"panel {at + 1}" for at, panel in enumerate(panels)}
    if len(panels) < 2:
        return board
    key = "takeaway.panels"
    left_out = st.multiselect(
        "Leave out on paper", names, format_func=names.__getitem__, key=key, placeholder="nothing"
    )
    out = {id(panels[at]) for at in left_out if at in names}
    rows = [[panel for panel in row if id(panel) not in out] for row in board.rows]
    return replace(board, rows=[row for row in rows if row]) if len(out) < len(panels) else board
