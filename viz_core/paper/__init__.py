"""Figures for a paper: what the screen shows, drawn by Matplotlib as lines, areas and letters."""

from viz_core.paper.bundle import Bundle as Bundle
from viz_core.paper.bundle import Files as Files
from viz_core.paper.bundle import cited as cited
from viz_core.paper.bundle import draw as draw
from viz_core.paper.venues import VENUES as VENUES
from viz_core.paper.venues import Venue as Venue
