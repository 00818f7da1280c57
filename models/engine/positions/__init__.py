"""How a model knows the order of its tokens: an open registry of schemes.

A scheme is a module built from the config; each stack owns one. It may act in three places: on the embeddings
(`forward`), on the queries and keys of self-attention (`rotate`), on its scores (`bias`). Cross-attention
looks at another text, where distances mean nothing, and gets none of the last two. A new scheme is a subclass
under a new name:

    @register("alternating")
    class Alternating(PositionScheme):
        def forward(self, embeddings, start=0): ...
"""

from models.engine.positions.absolute import sinusoids, waves
from models.engine.positions.alibi import alibi_bias, alibi_slopes
from models.engine.positions.relative_bias import relative_buckets
from models.engine.positions.rotary import rotate
from models.engine.positions.scheme import POSITIONS, LayerPositions, PositionScheme, has_bias, register
from models.engine.positions.transformer_xl import TransformerXL

__all__ = [
    "POSITIONS",
    "LayerPositions",
    "PositionScheme",
    "TransformerXL",
    "alibi_bias",
    "alibi_slopes",
    "has_bias",
    "register",
    "relative_buckets",
    "rotate",
    "sinusoids",
    "waves",
]
