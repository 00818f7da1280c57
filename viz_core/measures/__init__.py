"""Measures what a head does, from its pattern, its tokens and what it moves.

Measures of one head are declared in `MEASURES`, each with its definition; `head_scores` computes them.
The rest looks further than one pattern: rollout and flow through layers, norms of what is moved, likeness
of heads, queries and keys in one plane, sums and means over what one chooses.
"""

from .one_head import HEAD_NAMES, MEASURES, Measure, entropy, head_scores, name_head
from .several_heads import (
    attention_flow,
    head_distances,
    map_of_heads,
    plane_of_queries_and_keys,
    rollout,
    value_weighted,
)
