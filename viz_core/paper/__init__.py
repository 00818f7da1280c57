"""Figures for a paper: what the screen shows, drawn by Matplotlib as lines, areas and letters."""

from viz_core.paper.drawing import Paper as Paper
from viz_core.paper.drawing import on_paper as on_paper
from viz_core.paper.files import draw as draw
from viz_core.paper.venues import VENUES as VENUES
from viz_core.paper.venues import Venue as Venue
