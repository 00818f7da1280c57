"""Boards: the live figures of a lab page as plain data, for two ways to draw them.

A page fills a board with panels. The browser draws it live (viz_core/viewer), `board_figure` draws it with
plotly. Arrays may begin with a frame axis: one entry for each value of the board's `scrub`, so that moving it
needs no computation, only another frame.
"""

from .board import Board, Scrub, board_figure, film_scrub, panels_in_words
from .chart import Worded
from .panel import Colour, Panel, Role
from .panels.bars import Bars
from .panels.curves import Curves, Line
from .panels.diagram import Diagram, Node
from .panels.facts import Fact, Facts
from .panels.layers import Layers
from .panels.matrix import Matrix, query_by_key
from .panels.plane import Plane
from .panels.points import Dots, Points
from .panels.sign import Sign
from .panels.table import Table
