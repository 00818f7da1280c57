"""Figures of attention: arrays in, plotly figures out. Works in a notebook; knows no model and no page.

Boards and their panels are in `viz_core.boards`.
"""

from viz_core import measures, theme
from viz_core.computation import computation_figure
from viz_core.curves import top_tokens
from viz_core.export import to_html
from viz_core.grids import head_grid
from viz_core.heatmaps import attention_heatmap
from viz_core.labels import tick_labels
from viz_core.lines import attention_lines
from viz_core.measures import head_scores, induction_score, name_head, rollout
from viz_core.pooling import thumbnails

__all__ = [
    "attention_heatmap",
    "attention_lines",
    "computation_figure",
    "head_grid",
    "head_scores",
    "induction_score",
    "measures",
    "name_head",
    "rollout",
    "theme",
    "thumbnails",
    "tick_labels",
    "to_html",
    "top_tokens",
]
