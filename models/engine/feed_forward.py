"""The feed-forward network of a layer, plain or gated."""

from collections.abc import Callable

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
}


class FeedForward(nn.Module):
    """Two linear maps with an activation between them, position by position (Vaswani et al. 2017, 3.3).

    Gated, what is activated is multiplied by a third map of x (Shazeer 2020, equation 5): SwiGLU with silu,
    GEGLU with gelu.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.linear_in = nn.Linear(config.d_model, config.ff_size, bias=config.bias)
        self.linear_gated = (
            nn.Linear(config.d_model, config.ff_size, bias=config.bias) if config.gated else None
        )
        self.linear_out = nn.Linear(config.ff_size, config.d_model, bias=config.bias)
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = nn.Dropout(config.dropout)
        self.norm_follows = config.norm in ("after", "both")  # the layer then records what it adds

    def forward(
        self, x: Float[Tensor, "batch position d_model"], *, trace: Scope | None = None
    ) -> Float[Tensor, "batch position d_model"]:
        """d_model -> d_ff -> d_model."""
        hidden = self.activation(record(trace, "pre", self.linear_in(x)))
        if self.linear_gated is not None:
            hidden = hidden * record(trace, "gated", self.linear_gated(x))
        out: Tensor = self.linear_out(self.dropout(record(trace, "post", hidden)))
        return out if self.norm_follows else record(trace, "out", out)
