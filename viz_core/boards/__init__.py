"""Boards: the live figures of a lab page as plain data, for two ways to draw them.

A page fills a board with panels. The browser draws it live (viz_core/viewer), `board_figure` draws it with
plotly. Arrays may begin with a frame axis: one entry for each value of the board's `scrub`, so that moving it
needs no computation, only another frame.
"""

from .board import Board as Board
from .board import Scrub as Scrub
from .board import board_figure as board_figure
from .board import film_scrub as film_scrub
from .chart import Worded as Worded
from .panel import Colour as Colour
from .panel import Panel as Panel
from .panel import Role as Role
from .panels.bars import Bars as Bars
from .panels.curves import Curves as Curves
from .panels.curves import Line as Line
from .panels.diagram import Diagram as Diagram
from .panels.diagram import Node as Node
from .panels.facts import Fact as Fact
from .panels.facts import Facts as Facts
from .panels.layers import Layers as Layers
from .panels.matrix import Matrix as Matrix
from .panels.matrix import query_by_key as query_by_key
from .panels.parallel import Axis as Axis
from .panels.parallel import Parallel as Parallel
from .panels.plane import Plane as Plane
from .panels.points import Dots as Dots
from .panels.points import Points as Points
from .panels.sign import Sign as Sign
from .panels.table import Table as Table
