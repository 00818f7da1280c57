"""Figures of attention: arrays in, plotly figures out. Works in a notebook; knows no model and no page.

Boards and their panels are in `viz_core.boards`.
"""

from viz_core import measures as measures
from viz_core import theme as theme
from viz_core.grids import head_grid as head_grid
from viz_core.grids import thumbnails as thumbnails
from viz_core.heatmaps import attention_heatmap as attention_heatmap
from viz_core.heatmaps import attention_picture as attention_picture
from viz_core.heatmaps import pattern_window as pattern_window
from viz_core.labels import tick_labels as tick_labels
from viz_core.lines import attention_lines as attention_lines
from viz_core.maps import head_map as head_map
from viz_core.maps import query_key_plane as query_key_plane
from viz_core.measures import attention_flow as attention_flow
from viz_core.measures import between as between
from viz_core.measures import head_distances as head_distances
from viz_core.measures import head_scores as head_scores
from viz_core.measures import induction_score as induction_score
from viz_core.measures import map_of_heads as map_of_heads
from viz_core.measures import name_head as name_head
from viz_core.measures import over_heads as over_heads
from viz_core.measures import over_keys as over_keys
from viz_core.measures import over_queries as over_queries
from viz_core.measures import plane_of_queries_and_keys as plane_of_queries_and_keys
from viz_core.measures import rollout as rollout
from viz_core.measures import value_weighted as value_weighted
from viz_core.theme import to_html as to_html
from viz_core.training import importance_bars as importance_bars
from viz_core.training import parallel_coordinates as parallel_coordinates
from viz_core.training import rate_finder_curve as rate_finder_curve
from viz_core.training import trial_history as trial_history
from viz_core.training import value_by_setting as value_by_setting
