"""Figures of attention: arrays in, plotly figures out. Works in a notebook; knows no model and no page.

Boards and their panels are in `viz_core.boards`.
"""

from . import measures, theme
from .grids import head_grid, thumbnails
from .heatmaps import attention_heatmap, attention_picture, pattern_window
from .labels import tick_labels
from .lines import attention_lines
from .maps import head_map, query_key_plane
from .measures import (
    attention_flow,
    head_distances,
    head_scores,
    map_of_heads,
    name_head,
    plane_of_queries_and_keys,
    rollout,
    value_weighted,
)
from .theme import to_html
