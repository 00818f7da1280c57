"""One sentence through every scheme: the same weights, other positions."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.config import Kind, ModelConfig
from models.engine.trace import Trace
from models.engine.transformer import Transformer
from models.zoo.suite import SCHEMES, untrained


def alike(config: ModelConfig, seed: int, *, causal: bool = True) -> dict[str, Transformer]:
    """An untrained model for each scheme; only the positions differ. `causal`: words see no later words."""
    kind: Kind = "decoder-only" if causal else "encoder-only"
    return {
        scheme: untrained(replace(config, kind=kind, positions=scheme), seed).eval() for scheme in SCHEMES
    }


@torch.no_grad()
def patterns(
    models: Mapping[str, Transformer], ids: Int[Tensor, " word"], layer: int
) -> Float[Tensor, "scheme head query key"]:
    """Where each decoder's heads of one layer look, in the order of `models`."""
    found = []
    for model in models.values():
        trace = Trace(lambda address, tensor: tensor if address.endswith("self.pattern") else None)
        model(ids[None], trace=trace)
        found.append(trace[f"decoder.{layer}.self.pattern"])
    return torch.stack(found)


def difference(patterns: Float[Tensor, "scheme head query key"]) -> Float[Tensor, "scheme head"]:
    """How far each scheme's pattern is from the first's: half the sum of |differences| in a row, 0..1.

    This is the total variation distance, the share of its attention that a query has moved to other keys,
    averaged over queries.
    """
    return (patterns - patterns[0]).abs().sum(dim=-1).mean(dim=-1) / 2
