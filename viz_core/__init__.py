"""Figures of attention: arrays in, plotly figures out. Works in a notebook; knows no model and no page."""

from viz_core import measures, theme
from viz_core.labels import tick_labels
from viz_core.measures import head_scores, name_head, rollout
from viz_core.pooling import thumbnails

__all__ = [
    "head_scores",
    "measures",
    "name_head",
    "rollout",
    "theme",
    "thumbnails",
    "tick_labels",
]
