"""Numbers that say what a head does, from its pattern, its tokens and what it moves.

Measures of one head are declared in `MEASURES`, each with its definition; `head_scores` computes them.
The rest looks further than one pattern: rollout and flow through layers, norms of what is moved, likeness
of heads, queries and keys in one plane, sums and means over what one chooses.
"""

from .one_head import HEAD_NAMES as HEAD_NAMES
from .one_head import MEASURES as MEASURES
from .one_head import Measure as Measure
from .one_head import entropy as entropy
from .one_head import head_scores as head_scores
from .one_head import induction_score as induction_score
from .one_head import name_head as name_head
from .several_heads import attention_flow as attention_flow
from .several_heads import between as between
from .several_heads import head_distances as head_distances
from .several_heads import map_of_heads as map_of_heads
from .several_heads import over_heads as over_heads
from .several_heads import over_keys as over_keys
from .several_heads import over_queries as over_queries
from .several_heads import plane_of_queries_and_keys as plane_of_queries_and_keys
from .several_heads import rollout as rollout
from .several_heads import value_weighted as value_weighted
