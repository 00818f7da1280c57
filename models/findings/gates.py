"""Hard concrete gates on heads, whose number of open ones can be learnt (Louizos et al. 2018, section 2.2).

A gate draws u from 0 to 1, takes s = sigmoid((log u - log(1 - u) + log alpha) / TEMPERATURE), stretches it to
LOW..HIGH and cuts what lies outside of 0..1. So it is 0, and 1, with probabilities of their own, and between
them its gradient flows. The expected number of gates that are not 0, the L0 norm, is a sum of sigmoids.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

TEMPERATURE = 0.33
LOW, HIGH = -0.1, 1.1
OPEN = 2.0
"""log alpha before anything is learnt: a gate is then open 95 times in 100 or more."""
Kept = dict[str, list[int]]
"""The heads that are left of each attention, by address such as "encoder.0.self"."""
Values = Float[Tensor, "#row attention head"]


class Gates(nn.Module):
    """A gate for each head of some attentions, in the order of `addresses`."""

    def __init__(self, addresses: list[str], n_heads: int) -> None:
        super().__init__()
        self.addresses = addresses
        self.log_alpha = nn.Parameter(torch.full((len(addresses), n_heads), OPEN))

    def forward(self, n_rows: int, generator: torch.Generator) -> Values:
        """Drawn gates, anew for each row of a batch."""
        u = torch.rand((n_rows, *self.log_alpha.shape), generator=generator)
        return stretched((u.logit(eps=1e-6) + self.log_alpha) / TEMPERATURE)

    def open(self) -> Float[Tensor, "attention head"]:
        """The probability that a gate is not 0."""
        return (self.log_alpha - TEMPERATURE * math.log(-LOW / HIGH)).sigmoid()

    def kept(self) -> Kept:
        """The heads whose gates are rather not 0."""
        likely = self.open() > 0.5
        return {address: likely[at].nonzero().flatten().tolist() for at, address in enumerate(self.addresses)}


def stretched(x: Tensor) -> Tensor:
    """sigmoid(x), stretched and cut."""
    return (x.sigmoid() * (HIGH - LOW) + LOW).clamp(0, 1)


def values_of(kept: Kept, n_heads: int) -> Values:
    """Gates that are 1 for the heads kept and 0 for all others."""
    heads = torch.arange(n_heads)
    return torch.stack([torch.isin(heads, torch.tensor(left)) for left in kept.values()])[None].float()


def n_kept(kept: Kept) -> int:
    """How many heads are left in all."""
    return sum(map(len, kept.values()))


@contextmanager
def gated(projections: Mapping[str, nn.Module], values: Values) -> Iterator[None]:
    """Inside, what each head hands to its attention's projection is multiplied by its gate.

    projections: `Model.projections`, as many and in the order of the attentions of `values`.
    """
    hooks = [
        module.register_forward_pre_hook(partial(_multiply, values[:, at]))
        for at, module in enumerate(projections.values())
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _multiply(gates: Float[Tensor, "#row head"], module: nn.Module, given: tuple[Any, ...]) -> tuple[Tensor]:
    z = given[0].unflatten(-1, (gates.shape[-1], -1))  # [row, query, head, d_head]
    return ((z * gates[:, None, :, None]).flatten(-2),)
