"""Figures for a paper: what the screen shows, drawn by Matplotlib as lines, areas and letters."""

from .bundle import Bundle as Bundle
from .bundle import Files as Files
from .bundle import cited as cited
from .bundle import draw as draw
from .venues import VENUES as VENUES
from .venues import Venue as Venue
