"""Boards: the live figures of a lab page as plain data, for two ways to draw them.

A page fills a board with panels. The browser draws it live (viz_core/viewer), `board_figure` draws it with
plotly. Arrays may begin with a frame axis: one entry for each value of the board's `scrub`, so that moving it
needs no computation, only another frame.
"""

from viz_core.boards.board import Board as Board
from viz_core.boards.board import Scrub as Scrub
from viz_core.boards.board import board_figure as board_figure
from viz_core.boards.board import film_scrub as film_scrub
from viz_core.boards.chart import Worded as Worded
from viz_core.boards.panel import Colour as Colour
from viz_core.boards.panel import Panel as Panel
from viz_core.boards.panel import Role as Role
from viz_core.boards.panels.bars import Bars as Bars
from viz_core.boards.panels.curves import Curves as Curves
from viz_core.boards.panels.curves import Line as Line
from viz_core.boards.panels.diagram import Diagram as Diagram
from viz_core.boards.panels.diagram import Node as Node
from viz_core.boards.panels.facts import Fact as Fact
from viz_core.boards.panels.facts import Facts as Facts
from viz_core.boards.panels.layers import Layers as Layers
from viz_core.boards.panels.matrix import Matrix as Matrix
from viz_core.boards.panels.matrix import query_by_key as query_by_key
from viz_core.boards.panels.parallel import Axis as Axis
from viz_core.boards.panels.parallel import Parallel as Parallel
from viz_core.boards.panels.plane import Plane as Plane
from viz_core.boards.panels.points import Dots as Dots
from viz_core.boards.panels.points import Points as Points
from viz_core.boards.panels.sign import Sign as Sign
from viz_core.boards.panels.table import Table as Table
