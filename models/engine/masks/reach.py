"""Which token can influence which, after several layers under the same mask."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def reach(allowed: Bool[Tensor, "n n"], n_layers: int) -> Bool[Tensor, "layer n n"]:
    """[layer, query, key]: whether the query's vector after layer 1, 2, ... n_layers can depend on the key's.

    A layer hands a token what those it attends to have got, and by the residual connection what it had
    itself: a path of at most `layer` steps in the graph of the mask. Raises ValueError for n_layers below 1.
    """
    if n_layers < 1:
        raise ValueError(f"n_layers={n_layers} must be at least 1; try n_layers=2")
    step = (allowed | torch.eye(len(allowed), dtype=torch.bool)).float()  # the residual keeps one's own
    reached, layers = step, [step]
    for _ in range(n_layers - 1):
        reached = (step @ reached).clamp(max=1)
        layers.append(reached)
    return torch.stack(layers) > 0


def layers_needed(allowed: Bool[Tensor, "n n"]) -> Int[Tensor, "n n"]:
    """[query, key]: after how many layers the key can influence the query; 0 for itself, -1 for never.

    It takes at most n - 1 layers: a shortest path visits no token twice.
    """
    n = len(allowed)
    by_layer = reach(allowed, max(1, n - 1))  # [layer, query, key]
    needed = 1 + (~by_layer).sum(dim=0)
    needed[~by_layer[-1]] = -1
    return needed.fill_diagonal_(0)
