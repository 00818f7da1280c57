"""Whom a token hears from, through one layer after another under the same mask."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from models.engine import masks


class Reach(NamedTuple):
    """What a mask lets through in models of 1, 2, ... layers."""

    reached: Bool[Tensor, "layer query key"]
    heard: Int[Tensor, "layer query"]
    """How many tokens each query's vector depends on, itself included."""
    layers: Int[Tensor, "query key"]
    """How many layers it takes; 0 for oneself, -1 where none are enough."""


def through_layers(allowed: Bool[Tensor, "n n"], n_layers: int) -> Reach:
    """Who can influence whom after 1 to `n_layers` layers, and how many it takes."""
    reached = masks.reach(allowed, n_layers)
    return Reach(reached, reached.sum(dim=-1), masks.layers_needed(allowed))


def cone(allowed: Bool[Tensor, "n n"], query: int, n_layers: int) -> Bool[Tensor, "frame floor n"]:
    """Which vectors on the way matter to the query's after layer 1, 2, ... `n_layers` (the frames).

    Floor 0 is the input, floor l the output of layer l. The vector of token j on floor l matters to the query
    on floor L if the L - l layers between can carry it there; on floor L only the query itself is left.
    """
    n = len(allowed)
    nobody = torch.zeros(n, dtype=torch.bool)
    itself = nobody.clone()
    itself[query] = True
    carried = [itself, *masks.reach(allowed, n_layers)[:, query]]  # by 0, 1, 2, ... layers
    frames = [
        [carried[top - floor] if floor <= top else nobody for floor in range(n_layers + 1)]
        for top in range(1, n_layers + 1)
    ]
    return torch.stack([torch.stack(floors) for floors in frames])


def spread(allowed: Bool[Tensor, "n n"], key: int, n_layers: int) -> Bool[Tensor, "floor n"]:
    """Which tokens have heard of `key`: on floor 0 itself alone, on floor l after l layers."""
    itself = torch.zeros(1, len(allowed), dtype=torch.bool)
    itself[0, key] = True
    return torch.cat([itself, masks.reach(allowed, n_layers)[:, :, key]])


def furthest_back(reached: Bool[Tensor, "layer query key"]) -> Int[Tensor, "layer query"]:
    """How many tokens before itself a query reaches, at most, after each layer."""
    first = reached.int().argmax(dim=-1)  # the first key that is reached
    return torch.arange(reached.shape[1]) - first
