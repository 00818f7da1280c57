"""Boards: the live figures of a lab page as plain data, for two ways to draw them.

A page fills a board with panels. The browser draws it live (pages/shared/board), `board_figure` draws it with
plotly. Arrays may begin with a frame axis: one entry for each value of the board's `scrub`, so that moving it
needs no computation, only another frame.
"""

from viz_core.boards.board import Board, Scrub, board_figure
from viz_core.boards.panel import Colour, Panel, Role
from viz_core.boards.panels.bars import Bars
from viz_core.boards.panels.curves import Curves, Line
from viz_core.boards.panels.diagram import Diagram, Node
from viz_core.boards.panels.facts import Fact, Facts
from viz_core.boards.panels.layers import Layers
from viz_core.boards.panels.matrix import Matrix
from viz_core.boards.panels.parallel import Axis, Parallel
from viz_core.boards.panels.plane import Plane
from viz_core.boards.panels.points import Dots, Points
from viz_core.boards.panels.sign import Sign
from viz_core.boards.panels.table import Table

__all__ = [
    "Axis",
    "Bars",
    "Board",
    "Colour",
    "Curves",
    "Diagram",
    "Dots",
    "Fact",
    "Facts",
    "Layers",
    "Line",
    "Matrix",
    "Node",
    "Panel",
    "Parallel",
    "Plane",
    "Points",
    "Role",
    "Scrub",
    "Sign",
    "Table",
    "board_figure",
]
