"""Attention over depth: sublayers read a mixture of all that came before them, not a sum."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..config import ModelConfig
from .trace import Scope, record

Stream = Float[Tensor, "batch position d_model"]


class DepthMix(nn.Module):
    """After a sublayer, the next one reads a mixture of the embedding and of what each sublayer has given.

    "Attention residuals" (arXiv 2603.15031), over all sublayers rather than blocks of them.
    The weights are a softmax of query . source / rms(source), with a query that is learnt for each sublayer.
    It starts at 0, where all sources weigh the same. The paper's norm has a gain, which the query takes in.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.zeros(config.d_model))
        self.eps = config.norm_eps

    def forward(self, sources: Sequence[Stream], *, trace: Scope | None = None) -> Stream:
        """`sources`: the embedding, then what the sublayers gave, in their order."""
        scores = []
        for x in sources:
            mean_square = torch.linalg.vector_norm(x, dim=-1).square() / x.shape[-1]
            scores.append((x @ self.query) * (mean_square + self.eps).rsqrt())
        weights = record(trace, "depth", torch.stack(scores, dim=-1).softmax(dim=-1))
        mixed = weights[..., :1] * sources[0]
        for at, x in enumerate(sources[1:], start=1):
            mixed = torch.addcmul(mixed, weights[..., at : at + 1], x)
        return mixed


def check_adds(model: object, name: str) -> None:
    """Raises ValueError for a model whose layers add nothing to a stream, so that no part of it is a sum."""
    if getattr(getattr(model, "config", None), "depth_attention", False):
        raise ValueError(
            f"the stream of {name!r} is no sum, since every sublayer mixes all before it anew; choose a "
            "model with depth_attention=False"
        )
