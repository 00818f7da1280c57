"""The feed-forward network of a layer: plain, gated, or a mixture of experts."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from ..config import ModelConfig
from .trace import Scope, record

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "gelu-quick": lambda x: x * (1.702 * x).sigmoid(),
}


class FeedForward(nn.Module):
    """Two linear maps with an activation between them, position by position (Vaswani et al. 2017, 3.3).

    A gated network multiplies what is activated by a third map of x (Shazeer 2020, equation 5): SwiGLU with
    silu, GEGLU with gelu. With a limit, what is activated is at most that, and the gate lies between -limit
    and limit, plus 1 (gpt-oss 2025).

    Experts stand side by side in one wide network, whose hidden channels are multiplied by what the router
    gives their expert: softmax over the few that it prefers, 0 for all others (Shazeer et al. 2017, equations
    3 to 5, without noise). All are computed, which is simple and traced, and slower than those few alone.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.linear_in = nn.Linear(config.d_model, config.ff_size, bias=config.bias)
        self.linear_gated = (
            nn.Linear(config.d_model, config.ff_size, bias=config.bias) if config.gated else None
        )
        n_experts = config.n_experts
        self.linear_out = nn.Linear(config.ff_size, config.d_model, bias=config.bias and not n_experts)
        self.n_active, self.limit = config.n_active, config.ff_limit
        self.router = nn.Linear(config.d_model, n_experts, bias=config.bias) if n_experts else None
        # the output's bias of each expert
        self.biases = nn.Linear(n_experts, config.d_model, bias=False) if n_experts and config.bias else None
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = nn.Dropout(config.dropout)
        self.norm_follows = config.norm in ("after", "both")  # the layer then records what it adds

    def forward(
        self, x: Float[Tensor, "batch position d_model"], *, trace: Scope | None = None
    ) -> Float[Tensor, "batch position d_model"]:
        """d_model -> d_ff -> d_model."""
        pre = record(trace, "pre", self.linear_in(x))
        hidden = self.activation(pre if self.limit is None else pre.clamp(max=self.limit))
        if self.linear_gated is not None:
            gate = record(trace, "gated", self.linear_gated(x))
            limit = self.limit
            hidden = hidden * (gate if limit is None else gate.clamp(-limit, limit) + 1)
        shares = None
        if self.router is not None:
            shares = record(trace, "experts", self.shares(self.router(x)))  # [batch, position, expert]
            hidden = (hidden.unflatten(-1, (shares.shape[-1], -1)) * shares[..., None]).flatten(-2)
        out: Tensor = self.linear_out(self.dropout(record(trace, "post", hidden)))
        if self.biases is not None:
            out = out + self.biases(shares)
        return out if self.norm_follows else record(trace, "out", out)

    def shares(
        self, logits: Float[Tensor, "batch position expert"]
    ) -> Float[Tensor, "batch position expert"]:
        """Softmax over the largest few, 0 elsewhere."""
        largest = logits.topk(self.n_active)
        return torch.zeros_like(logits).scatter(-1, largest.indices, largest.values.softmax(dim=-1))
