"""Boards: the live figures of a lab page as plain data, for two ways to draw them.

A page fills a board with panels. The browser draws it live (pages/shared/board), `board_figure` draws it with
plotly. Arrays may begin with a frame axis: one entry for each value of the board's `scrub`, so that moving it
needs no computation, only another frame.
"""

from viz_core.boards.board import Board, Scrub, has_frames
from viz_core.boards.panels import (
    Bars,
    Colour,
    Curves,
    Diagram,
    Fact,
    Facts,
    Layers,
    Line,
    Matrix,
    Node,
    Panel,
    Plane,
    Role,
    Sign,
    Table,
)

__all__ = [
    "Bars",
    "Board",
    "Colour",
    "Curves",
    "Diagram",
    "Fact",
    "Facts",
    "Layers",
    "Line",
    "Matrix",
    "Node",
    "Panel",
    "Plane",
    "Role",
    "Scrub",
    "Sign",
    "Table",
    "has_frames",
]
