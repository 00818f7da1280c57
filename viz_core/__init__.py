"""Figures of attention: arrays in, plotly figures out. Works in a notebook; knows no model and no page.

Boards and their panels are in `viz_core.boards`.
"""

from . import measures as measures
from . import theme as theme
from .grids import head_grid as head_grid
from .grids import thumbnails as thumbnails
from .heatmaps import attention_heatmap as attention_heatmap
from .heatmaps import attention_picture as attention_picture
from .heatmaps import pattern_window as pattern_window
from .labels import tick_labels as tick_labels
from .lines import attention_lines as attention_lines
from .maps import head_map as head_map
from .maps import query_key_plane as query_key_plane
from .measures import attention_flow as attention_flow
from .measures import between as between
from .measures import head_distances as head_distances
from .measures import head_scores as head_scores
from .measures import induction_score as induction_score
from .measures import map_of_heads as map_of_heads
from .measures import name_head as name_head
from .measures import over_heads as over_heads
from .measures import over_keys as over_keys
from .measures import over_queries as over_queries
from .measures import plane_of_queries_and_keys as plane_of_queries_and_keys
from .measures import rollout as rollout
from .measures import value_weighted as value_weighted
from .theme import to_html as to_html
from .training import importance_bars as importance_bars
from .training import parallel_coordinates as parallel_coordinates
from .training import rate_finder_curve as rate_finder_curve
from .training import trial_history as trial_history
from .training import value_by_setting as value_by_setting
