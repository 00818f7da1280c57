"""Numbers that say what a head does, from its pattern, its tokens and what it moves.

Measures of one head are declared in `MEASURES`, each with its definition; `head_scores` computes them.
The rest looks further than one pattern: rollout and flow through layers, norms of what is moved, likeness
of heads, queries and keys in one plane, sums and means over what one chooses.
"""

from viz_core.measures.declared import HEAD_NAMES, MEASURES, Measure, head_scores, induction_score, name_head
from viz_core.measures.rolling import rollout
from viz_core.measures.rows import entropy

__all__ = [
    "HEAD_NAMES",
    "MEASURES",
    "Measure",
    "entropy",
    "head_scores",
    "induction_score",
    "name_head",
    "rollout",
]
