"""Figures for a paper: what the screen shows, drawn by Matplotlib as lines, areas and letters."""

from .bundle import Bundle, Files, cited, draw
from .venues import VENUES, Venue
