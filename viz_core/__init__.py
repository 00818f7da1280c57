"""Figures of attention: arrays in, plotly figures out. Works in a notebook; knows no model and no page.

Boards and their panels are in `viz_core.boards`.
"""

from viz_core import measures, theme
from viz_core.computation import computation_figure, top_tokens
from viz_core.grids import head_grid, thumbnails
from viz_core.heatmaps import attention_heatmap, attention_picture, pattern_window
from viz_core.labels import tick_labels
from viz_core.lines import attention_lines
from viz_core.maps import head_map, query_key_plane
from viz_core.measures import (
    attention_flow,
    between,
    head_distances,
    head_scores,
    induction_score,
    map_of_heads,
    name_head,
    over_heads,
    over_keys,
    over_queries,
    plane_of_queries_and_keys,
    rollout,
    value_weighted,
)
from viz_core.theme import to_html
from viz_core.training import (
    importance_bars,
    parallel_coordinates,
    rate_finder_curve,
    trial_history,
    value_by_setting,
)

__all__ = [
    "attention_flow",
    "attention_heatmap",
    "attention_lines",
    "attention_picture",
    "between",
    "computation_figure",
    "head_distances",
    "head_grid",
    "head_map",
    "head_scores",
    "importance_bars",
    "induction_score",
    "map_of_heads",
    "measures",
    "name_head",
    "over_heads",
    "over_keys",
    "over_queries",
    "parallel_coordinates",
    "pattern_window",
    "plane_of_queries_and_keys",
    "query_key_plane",
    "rate_finder_curve",
    "rollout",
    "theme",
    "thumbnails",
    "tick_labels",
    "to_html",
    "top_tokens",
    "trial_history",
    "value_by_setting",
    "value_weighted",
]
