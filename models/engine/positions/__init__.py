"""How a model knows the order of its tokens: one scheme a file, whose name is the scheme's.

A scheme is a module built from the config; each stack owns one. It may act in three places: on the embeddings
(`forward`), on the queries and keys of self-attention (`rotate`), on its scores (`bias`). Cross-attention
looks at another text, where distances mean nothing, and gets none of the last two. A new scheme is a subclass
in a new file, here alternating.py:

    @register("alternating")
    class Alternating(PositionScheme):
        def forward(self, embeddings, start=0): ...

Every file of this folder is imported, so that a scheme is found by being there.
"""

from ...registry import import_all
from ..position_scheme import POSITIONS, LayerPositions, PositionScheme, has_bias, register, turns, waves
from .alibi import alibi_bias, alibi_slopes
from .rotary import rotate
from .sinusoidal import sinusoids
from .t5 import relative_buckets
from .transformer_xl import TransformerXL

import_all(__name__, __path__)
